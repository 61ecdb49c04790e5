#pragma once

// Which blocks of C code are SQLite's connections.
//
// All that a connection has refers back to it, and a statement's array of operations is longer than what it uses: a
// stale word in it leads to another connection. So no block owns one; the Python object does.

#include "parsers/elf/core_file.h"
#include "parsers/memory/block_numbers.h"
#include "parsers/snapshot/object_fields.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// Numbers of the blocks to which a word of `of_objects` leads, and that begin, behind SQLite's allocator's header if it
/// has one (mem1.c, where malloc does not tell a block's size), with the address of a variable of a module called after
/// SQLite: of its table of files (sqliteInt.h, struct sqlite3, pVfs). Sorted, each once.
std::vector<std::uint32_t> sqlite_connections(const CoreFile& core, const BlockNumbers& numbers,
                                              std::span<const ObjectWord> of_objects);

}  // namespace heapsift
