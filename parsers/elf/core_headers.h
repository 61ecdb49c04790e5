#pragma once

// The ELF header and program headers of a core. None of their numbers is trusted.

#include "parsers/base/address.h"
#include "parsers/base/diagnostics.h"
#include "parsers/elf/bytes.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// One PT_LOAD. By its header, the file has `promised_bytes` of it, of which `saved` are really there.
struct LoadHeader {
    Address start;
    std::uint64_t memory_bytes = 0;    // start + memory_bytes does not wrap
    std::uint64_t promised_bytes = 0;  // at most memory_bytes
    Bytes saved;                       // at most promised_bytes; fewer if the file ends before
    bool readable = false;
    bool writable = false;
    bool executable = false;
};

struct NoteSegment {
    Bytes bytes;
    std::uint64_t alignment = 4;
};

struct CoreHeaders {
    std::vector<LoadHeader> loads;
    std::vector<NoteSegment> notes;
    bool has_section_headers = false;  // beyond the one that carries the count of program headers
    std::uint64_t promised_bytes = 0;  // the end of the last byte that the headers promise; at most 2^64 - 1
    std::uint64_t cut_bytes = 0;  // bytes of segments that lie past the end of the file; at most 2^64 - 1
};

/// Reads the headers of `file`, which has passed `require_core`. Throws `Error` if there is no PT_LOAD at
/// all. A cut file, a cut header table and a lost count go to `diagnostics` as damage. Cost: the header
/// table; memory for what is really there.
CoreHeaders read_core_headers(const std::string& path, Bytes file, Diagnostics& diagnostics);

}  // namespace heapsift
