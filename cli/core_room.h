#pragma once

// Room for the core of a living process, which nobody keeps.

#include "parsers/base/descriptor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// An empty file without a name: whatever ends this program gives the room back.
struct CoreRoom {
    Descriptor file;
    std::string folder;  // where it lies; "" in memory
};

/// The first of `folders` on a disk with room for `bytes` and 64 MiB more; else memory, if what is free is
/// more than twice that. Throws `Error` (exit 1, "too-little-room") with the need.
CoreRoom room_for_core(std::uint64_t bytes, const std::vector<std::string>& folders);

/// --index-dir or the cache directory, $TMPDIR, /var/tmp, /tmp.
std::vector<std::string> folders_for_cores(const std::string& index_directory);

}  // namespace heapsift
