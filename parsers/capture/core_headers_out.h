#pragma once

// The headers of a core that is written: ELF header, program headers, notes.

#include "parsers/base/address.h"
#include "parsers/capture/pages.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// A PT_LOAD: a mapping, and where its saved bytes are in the file.
struct CoreSegment {
    AddressRange memory;
    std::uint64_t saved_bytes = 0;
    std::uint64_t file_offset = 0;
    bool readable = false, writable = false, executable = false;
};

/// Of each mapping a segment, without offsets.
std::vector<CoreSegment> segments_of(const MemoryPlan& plan);

/// How many bytes the program headers and the notes take, which follow the ELF header.
std::uint64_t core_table_bytes(std::size_t segments, std::uint64_t note_bytes);

/// Gives the saved bytes of the segments places from `at` on, in their order. Returns the end of the last.
std::uint64_t place_in_order(std::vector<CoreSegment>& segments, std::uint64_t at);

struct CoreHeaderBytes {
    std::string header;  // the first 64 bytes
    std::string table;   // what lies at `table_offset`
};
/// From 65,535 headers on their number stands in a section header (PN_XNUM), as the kernel has it.
CoreHeaderBytes core_header_bytes(std::span<const CoreSegment> segments, std::string_view notes,
                                  std::uint64_t table_offset);

}  // namespace heapsift
