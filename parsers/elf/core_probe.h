#pragma once

// Is this file a core? Asked of many files, so answered from the first bytes.

#include <string>

namespace heapsift {

/// True where `path` is a regular file that begins as an ELF core (of any machine), plain or compressed.
/// False for all else, also for what cannot be read. Cost: one page, and of a compressed file its first
/// block.
bool looks_like_core(const std::string& path);

}  // namespace heapsift
