#pragma once

// An inventory (analysis/growth/inventory.h) as a part of an SQLite export: with it an export takes a core's place in
// `diff`, when the core itself has been thrown away.

#include "analysis/growth/inventory.h"

#include <string>

namespace heapsift {

class Database;

/// With the script, which is found as an expression.
CoreIdentity whole_identity(const HeapReader& heap);

/// Whether the file is an export of heapsift's, of whatever version.
bool is_export(const std::string& path);

/// Adds the table `inventory`, of one row. It has the process's arguments and paths of source files: not for an export
/// that leaves out values.
void write_inventory(Database& database, const Inventory& inventory);

/// Throws `Error` (exit 1), "no-inventory", if it has none, or one of another version: it must be exported again.
Inventory read_inventory(const std::string& path);

}  // namespace heapsift
