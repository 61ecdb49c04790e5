// A core holds all that a process knows, so its file has no name that another could open (O_TMPFILE; or a
// name that is taken away at once, on file systems that lack it). A folder in memory (tmpfs) is no disk: what
// is written there takes the memory that the question needs. Questions themselves take about as much again as
// small objects do.

#include "cli/core_room.h"

#include "cli/machine.h"
#include "cli/units.h"
#include "parsers/base/cache_file.h"
#include "parsers/base/error.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cstdlib>

namespace heapsift {
namespace {

constexpr std::uint64_t spare_room = std::uint64_t{64} << 20;

Descriptor nameless_core(const std::string& folder) {
    Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (file.is_open()) return file;
    std::string name = folder + "/core.XXXXXX";
    file = Descriptor(::mkostemp(name.data(), O_CLOEXEC));
    if (file.is_open()) ::unlink(name.c_str());
    return file;
}

/// Bytes free for a file in the folder; 0 if it lies in memory, or is none.
std::uint64_t free_on_disk(const std::string& folder) {
    struct statfs disk {};
    if (::statfs(folder.c_str(), &disk) != 0 || disk.f_type == TMPFS_MAGIC || disk.f_type == RAMFS_MAGIC)
        return 0;
    return static_cast<std::uint64_t>(disk.f_bavail) * static_cast<std::uint64_t>(disk.f_bsize);
}

}  // namespace

std::vector<std::string> folders_for_cores(const std::string& index_directory) {
    std::vector<std::string> folders;
    const char* temporary = std::getenv("TMPDIR");
    for (const std::string& folder : {index_directory, std::string(temporary ? temporary : ""),
                                      std::string("/var/tmp"), std::string("/tmp")})
        if (!folder.empty()) folders.push_back(folder);
    return folders;
}

CoreRoom room_for_core(std::uint64_t bytes, const std::vector<std::string>& folders) {
    std::string most_folder;
    std::uint64_t most = 0;
    for (const std::string& folder : folders) {
        if (&folder == &folders.front()) make_own_folder(folder);
        const std::uint64_t free = free_on_disk(folder);
        if (free > most) {
            most = free;
            most_folder = folder;
        }
        if (free < bytes + spare_room) continue;
        CoreRoom room{nameless_core(folder), folder};
        if (room.file.is_open()) return room;
    }
    const std::uint64_t memory = available_memory().value_or(0);
    if (memory / 2 > bytes) {
        CoreRoom room{Descriptor(::memfd_create("heapsift core", MFD_CLOEXEC)), ""};
        if (room.file.is_open()) return room;
    }
    const std::string disk = most_folder.empty()
                                 ? "no folder for it is on a disk"
                                 : fmt::format("{} has {} free", most_folder, binary_size(most));
    throw cannot_analyse("too-little-room",
                         fmt::format("its core takes up to {}; {}, and memory {}", binary_size(bytes), disk,
                                     binary_size(memory)),
                         "--keep FILE on a larger disk, or --index-dir DIR there");
}

}  // namespace heapsift
