#include "cli/memory_plan.h"

#include "cli/machine.h"
#include "cli/units.h"
#include "parsers/base/error.h"

#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/statfs.h>

#include <filesystem>
#include <limits>

namespace heapsift {
namespace {

namespace fs = std::filesystem;

/// Of a question: tables of modules and types, and arrays that are too small for a file.
constexpr std::uint64_t always = std::uint64_t{64} << 20;

/// The folder itself may not be there yet.
fs::path existing(fs::path folder) {
    std::error_code error;
    while (!fs::is_directory(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
    return folder;
}

}  // namespace

MemoryRoom memory_room(std::optional<std::uint64_t> wished, const std::string& folder, std::uint64_t held) {
    MemoryRoom room;
    room.folder = folder;
    if (wished) {
        room.memory = *wished;
        room.memory_is = "--memory allows";
    } else {
        const auto available = available_memory();
        room.memory = available ? *available / 4 * 3 + held : std::numeric_limits<std::uint64_t>::max();
        room.memory_is = "what is free here, less a quarter for the pages of the core, is";
    }
    struct statfs disk {};
    if (!folder.empty() && ::statfs(existing(folder).c_str(), &disk) == 0) {
        room.disk = static_cast<std::uint64_t>(disk.f_bavail) * static_cast<std::uint64_t>(disk.f_bsize);
        room.folder_is_memory = disk.f_type == TMPFS_MAGIC || disk.f_type == RAMFS_MAGIC;
    }
    return room;
}

MemoryFit use_of(const MemoryRoom& room, std::uint64_t needed) {
    if (needed <= room.memory) return MemoryFit::in_memory;
    return room.folder.empty() || room.folder_is_memory || needed > room.disk ? MemoryFit::too_much
                                                                              : MemoryFit::in_files;
}

// An object takes 16 bytes of the core at least, mostly 50 and more.
std::uint64_t memory_to_find_objects(std::uint64_t core_bytes) { return always + core_bytes / 2; }

// From the graph on a block is a node, as an object is.
std::uint64_t memory_for(std::uint64_t objects, std::uint64_t blocks, MemoryNeed need) {
    constexpr std::uint64_t with_references = 26, a_block_alone = 10;
    if (need == MemoryNeed::native) return always + objects * with_references + blocks * a_block_alone;
    const std::uint64_t nodes = need < MemoryNeed::native ? objects : objects + blocks;
    const auto bytes_each = [&]() -> std::uint64_t {
        switch (need) {
            case MemoryNeed::found:
                return 7;
            case MemoryNeed::objects:
                return 12;
            case MemoryNeed::references:
            case MemoryNeed::native:
                return with_references;
            case MemoryNeed::graph:
                return 76;  // with paths to every object, which most that ask for a graph alone look for
            case MemoryNeed::states:
                return 49;
            case MemoryNeed::retained:
                return 78;  // 67, and paths
        }
        return 78;
    }();
    return always + nodes * bytes_each;
}

void refuse_for_memory(const MemoryRoom& room, std::uint64_t needed, std::uint64_t least) {
    std::string beside;
    if (room.folder.empty())
        beside = "and there is no folder for the rest (--index-dir)";
    else if (room.folder_is_memory)
        beside = room.folder + ", where the rest could lie, is in memory itself";
    else
        beside =
            fmt::format("and {}, where the rest could lie, has {} free", room.folder, binary_size(room.disk));
    throw cannot_analyse(
        "too-little-memory",
        fmt::format("this question needs some {} of memory; {} {}, {}", binary_size(needed), room.memory_is,
                    binary_size(room.memory), beside),
        fmt::format("--index-dir on a disk with {} free, or a machine with more memory{}",
                    binary_size(needed),
                    needed > least ? fmt::format("; types --sort memory needs {}", binary_size(least)) : ""));
}

std::string in_files_note(const MemoryRoom& room, std::uint64_t needed, const std::string& place) {
    return fmt::format(
        "this question needs some {} of memory; {} {}: its columns lie in {} until it is answered, "
        "which is slower",
        binary_size(needed), room.memory_is, binary_size(room.memory), place);
}

}  // namespace heapsift
