#pragma once

// Is this file a core? Asked of many files, so the first bytes must decide.

#include <string>

namespace heapsift {

/// True if `path` is a regular file that begins as an ELF core (of any machine), plain or compressed. False
/// otherwise, also if it cannot be read. Cost: one page, or the first block of a compressed file.
bool looks_like_core(const std::string& path);

}  // namespace heapsift
