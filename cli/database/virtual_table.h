#pragma once

// Makes a table or a function known to SQLite. Only this folder includes it.

#include "cli/database/sql_table.h"

#include <exception>
#include <string>

struct sqlite3;

namespace heapsift {

/// Why a table or function could not go on: SQLite's C code must not be left by an exception, so it waits here.
struct SqlFailure {
    std::exception_ptr thrown;
};

/// `table` and `failure` must outlive the connection. Returns SQLite's result code.
int add_table(sqlite3* database, SqlTable& table, SqlFailure& failure);
/// The same; the function is copied.
int add_function(sqlite3* database, const SqlFunction& function, SqlFailure& failure);

}  // namespace heapsift
