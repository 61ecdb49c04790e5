#pragma once

// What a core's notes say: threads, the process, its auxiliary vector and the files it had mapped.

#include "parsers/base/diagnostics.h"
#include "parsers/elf/core_headers.h"
#include "parsers/elf/core_types.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heapsift {

struct CoreNotes {
    std::vector<CoreThread> threads;
    std::vector<MappedFile> mapped_files;  // sorted by start; the path's " (deleted)" is still there
    ProcessInfo process;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> auxiliary;  // without AT_NULL
    std::optional<std::vector<AddressRange>> absent_pages;  // as a captured core has them (absent_pages.h)
};

/// Reads all PT_NOTE segments. Notes that run past their end are used as far as they go, and go to
/// `diagnostics` as damage. Memory: proportional to the notes that are really in the file, whatever counts
/// they claim.
CoreNotes read_core_notes(const std::string& path, const CoreHeaders& headers, Diagnostics& diagnostics);

}  // namespace heapsift
