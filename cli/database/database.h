#pragma once

// As much of SQLite as writing a database in one go needs. Only this folder includes it.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace heapsift {

class Database;

/// A statement of a Database, which must outlive it. Values are bound by place, from 1 on; places not bound
/// are NULL. `run` inserts the row and makes the statement ready for the next.
class Statement {
public:
    Statement() = default;
    void bind(int place, std::int64_t value);
    /// `text` must live until `run`.
    void bind(int place, std::string_view text);
    /// The same as bytes.
    void bind_blob(int place, std::string_view bytes);
    void run();

private:
    friend class Database;
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    const Database* database_ = nullptr;
};

/// Errors are thrown as `Error` (exit 1, "cannot-write") and name the file as `name`.
class Database {
public:
    /// Opens the empty file `path` and begins the one transaction that everything is written in. Until
    /// `commit` the file is locked, and worthless if `commit` is not reached: there is no journal, and
    /// nothing is forced to the disk.
    Database(const std::string& path, std::string name);
    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    void execute(const std::string& sql);
    Statement prepare(const std::string& sql);
    /// Writes what is left and closes the file.
    void commit();

private:
    friend class Statement;
    void check(int result) const;
    struct Close {
        void operator()(sqlite3* database) const;
    };
    std::unique_ptr<sqlite3, Close> database_;
    std::string name_;
};

}  // namespace heapsift
