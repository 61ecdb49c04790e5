#pragma once

// As much of SQLite as reading one value back needs. Only this folder includes it.

#include <cstdint>
#include <string>

namespace heapsift {

/// True if `path` is an SQLite database with this application_id (sqlite.org/fileformat2.html). Reads 100 bytes.
bool is_database_of(const std::string& path, std::uint32_t application_id);

/// The blob in the first column of the first row of `sql`; empty if there is none. The file is somebody else's: nothing
/// in its schema is run, and a value of more than 256 MiB is refused. Throws `Error` (exit 1): "cannot-read".
std::string blob_of_database(const std::string& path, const std::string& sql);

}  // namespace heapsift
