// An array's file is its own: it is as large as the array, and gone with it. (One file for all would have to
// be cut up again, and its holes given back.)

#include "cli/large_blocks.h"

#include "parsers/base/cache_file.h"
#include "parsers/base/descriptor.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <new>

namespace heapsift {
namespace {

// No constructor and no allocation in here: arrays are made before and after main.

/// Arrays in files: enough for all columns, of two threads' pieces as well. What is beyond lies in memory.
constexpr std::size_t most_blocks = 4096;

struct Block {
    std::atomic<char*> address;
    std::atomic<std::size_t> bytes;
};
std::array<Block, most_blocks> blocks;
std::atomic<std::size_t>
    block_count;  // as many of the places are in use; the places behind `used` never were
std::atomic<std::size_t> used;
std::atomic<std::uint64_t> byte_count;
std::atomic<int> folder = -1;
std::atomic<WithoutRoom> without_room = WithoutRoom::use_memory;
constinit std::mutex changing;

constexpr std::size_t page = 4096;

bool begins_page(const void* address) { return reinterpret_cast<std::uintptr_t>(address) % page == 0; }

/// A new file without a name in the folder; -1 on an error.
int nameless_file() {
    const int directory = folder.load(std::memory_order_relaxed);
    const int file = ::openat(directory, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
    static std::atomic<unsigned> number;
    char name[64];
    std::snprintf(name, sizeof name, "block-%d-%u.new", static_cast<int>(::getpid()), number++);
    const int named = ::openat(directory, name, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (named >= 0) ::unlinkat(directory, name, 0);
    return named;
}

/// Bytes in a file, all 0; null if there is no room for them.
char* mapped_file(std::size_t bytes) {
    const int file = nameless_file();
    if (file < 0) return nullptr;
    // The disk is taken now, so that a full one is seen here and not by a signal later.
    int error = 0;
    do error = ::fallocate(file, 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    while (error == EINTR);
    if (error == EOPNOTSUPP) error = ::ftruncate(file, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
    void* address =
        error == 0 ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
    ::close(file);
    return address == MAP_FAILED ? nullptr : static_cast<char*>(address);
}

/// False if all places are in use.
bool remember(char* address, std::size_t bytes) {
    const std::lock_guard lock(changing);
    for (std::size_t i = 0; i < most_blocks; ++i) {
        if (blocks[i].address.load(std::memory_order_relaxed)) continue;
        blocks[i].bytes = bytes;
        blocks[i].address = address;
        if (i >= used) used = i + 1;
        ++block_count;
        byte_count += bytes;
        return true;
    }
    return false;
}

/// Bytes of the array in a file that begins here, which is no longer one; 0 if there is none.
std::size_t forget(const void* address) {
    const std::lock_guard lock(changing);
    for (std::size_t i = 0; i < used; ++i) {
        if (blocks[i].address.load(std::memory_order_relaxed) != address) continue;
        blocks[i].address = nullptr;
        --block_count;
        byte_count -= blocks[i].bytes;
        return blocks[i].bytes;
    }
    return 0;
}

/// Null if there is no room.
void* new_in_file(std::size_t bytes) {
    bytes = (bytes + page - 1) / page * page;
    char* address = mapped_file(bytes);
    if (address && !remember(address, bytes)) {
        ::munmap(address, bytes);
        return nullptr;
    }
    return address;
}

void* allocate(std::size_t bytes) {
    if (bytes >= large_block && folder.load(std::memory_order_relaxed) >= 0) {
        if (void* in_file = new_in_file(bytes)) return in_file;
        if (without_room == WithoutRoom::fail) throw std::bad_alloc();
    }
    while (true) {
        if (void* in_memory = std::malloc(bytes ? bytes : 1)) return in_memory;
        const std::new_handler handler = std::get_new_handler();
        if (!handler) throw std::bad_alloc();
        handler();
    }
}

void free_block(void* address) noexcept {
    if (begins_page(address) && address && block_count.load(std::memory_order_relaxed) != 0)
        if (const std::size_t bytes = forget(address)) {
            ::munmap(address, bytes);
            return;
        }
    std::free(address);
}

}  // namespace

bool keep_large_blocks_in(const std::string& path) {
    make_own_folder(path);
    const int opened = ::open(path.c_str(), O_DIRECTORY | O_RDONLY | O_CLOEXEC);
    if (opened < 0) return false;
    keep_large_blocks_in_memory();
    folder = opened;
    const int probe = nameless_file();
    if (probe < 0) {
        keep_large_blocks_in_memory();
        return false;
    }
    ::close(probe);
    return true;
}

void keep_large_blocks_in_memory() {
    if (const int before = folder.exchange(-1); before >= 0) ::close(before);
}

void if_disk_is_full(WithoutRoom action) { without_room = action; }

std::uint64_t large_block_bytes() { return byte_count; }

bool is_in_large_block(const void* address) noexcept {
    const auto* at = static_cast<const char*>(address);
    for (std::size_t i = 0; i < used; ++i) {
        const char* begin = blocks[i].address;
        if (begin && at >= begin && at < begin + blocks[i].bytes) return true;
    }
    return false;
}

}  // namespace heapsift

// The other forms of new and delete come down to these ([new.delete.single], [new.delete.array]). Those that
// do not throw are here too: an address sanitizer's own would not, and what it gave would be freed here.
void* operator new(std::size_t bytes) { return heapsift::allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t& /*unused*/) noexcept {
    try {
        return heapsift::allocate(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
void operator delete(void* address) noexcept { heapsift::free_block(address); }
void operator delete(void* address, std::size_t) noexcept { heapsift::free_block(address); }
void operator delete(void* address, const std::nothrow_t& /*unused*/) noexcept {
    heapsift::free_block(address);
}
