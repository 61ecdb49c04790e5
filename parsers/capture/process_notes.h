#pragma once

// The notes of a core of a living process, as the kernel writes them.

#include "parsers/capture/memory_map.h"
#include "parsers/capture/process_files.h"
#include "parsers/capture/thread_state.h"
#include "parsers/elf/core_types.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// What /proc says of the process beside its memory; read it while the process runs.
struct ProcessRecords {
    std::string stat, status, command_line, auxiliary;
    std::vector<std::pair<pid_t, pid_t>>
        own_thread_numbers;  // (as we see it, in its own namespace), if they differ
};
ProcessRecords read_records(const ProcessFiles& process, std::span<const pid_t> threads);

/// The bytes of the PT_NOTE segment. `absent_pages`: a note of them (parsers/elf/absent_pages.h), "" for none.
std::string core_notes(const ProcessRecords& records, std::span<const ThreadState> threads,
                       std::span<const Mapping> mappings, const CaptureFacts& facts,
                       std::string_view absent_pages = {});

/// NT_FILE's content: of every mapping of a file its range, offset and path.
std::string file_note(std::span<const Mapping> mappings);

/// A note: name, type, content, each padded to 4 bytes.
void add_note(std::string& notes, std::string_view owner, std::uint32_t type, std::string_view content);

}  // namespace heapsift
