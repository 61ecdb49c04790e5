#pragma once

// Whether a question fits into the memory that may be had, and what to do where it does not.
//
// What a question needs is known early, from the number of objects (analysis/README.md, "Scale on paper").
// Where that is more than this process may take, its columns lie in files meanwhile (cli/large_blocks.h), if
// the disk has room for them. If not, the question is refused before the work, with the need: better than
// being killed in the middle of it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace heapsift {

/// What there is.
struct MemoryRoom {
    std::uint64_t memory = 0;       // bytes that the question's columns may take
    std::string memory_is;          // who sets that limit, for people: "--memory allows"
    std::string folder;             // for what does not fit; "" if there is none
    std::uint64_t disk = 0;         // bytes free there
    bool folder_is_memory = false;  // a file there takes memory as well (tmpfs)
};

/// With --memory: as much as it says; else three quarters of what can still be had, since the pages of the
/// core that are being read need room too, and what columns hold already. `folder`: where an index would lie.
MemoryRoom memory_room(std::optional<std::uint64_t> wished, const std::string& folder,
                       std::uint64_t held = 0);

enum class MemoryFit : std::uint8_t { in_memory, in_files, too_much };

/// Whether so many bytes fit.
MemoryFit use_of(const MemoryRoom& room, std::uint64_t needed);

/// Bytes of columns that finding the objects of a core may take, before they are counted; those that so many
/// objects, and blocks of C code, need for each of the further columns (the larger ones include the smaller).
std::uint64_t memory_to_find_objects(std::uint64_t core_bytes);
enum class MemoryNeed : std::uint8_t { found, objects, references, native, graph, states, retained };
std::uint64_t memory_for(std::uint64_t objects, std::uint64_t blocks, MemoryNeed need);

/// Why the question cannot be answered here: exit 1, "too-little-memory". `least`: what any question about
/// all objects needs.
[[noreturn]] void refuse_for_memory(const MemoryRoom& room, std::uint64_t needed, std::uint64_t least);

/// A line for people: that this is slower, and where the columns lie: the folder, or other words for it.
std::string in_files_note(const MemoryRoom& room, std::uint64_t needed, const std::string& place);

}  // namespace heapsift
