#pragma once

// What stands at an address for code that is emulated: the dumped process' memory, never to be written, and
// some room of our own where the process had nothing. (guest_memory.cpp says how it is put together.)

#include "parsers/base/address.h"
#include "parsers/elf/address_space.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {

/// Whole pages that can be given to an emulator as they are.
struct GuestRegion {
    Address start;
    std::uint64_t size = 0;
    const std::byte* bytes = nullptr;  // valid as long as the GuestMemory
    bool writable = false;             // only room of our own
    bool executable = false;
};

/// Refers to the address space. Not thread-safe.
class GuestMemory {
public:
    static constexpr std::uint64_t page = 4096;
    static constexpr std::uint64_t calls_at_once = 4096;  // of functions, in one batch
    static constexpr std::uint64_t most_visits = std::uint64_t{1}
                                                 << 22;     // of one batch, and so of one object
    static constexpr std::uint64_t most_copied = 64 << 10;  // bytes of an object that is changed on trial

    /// Nothing if the process leaves no room, or this machine has none.
    static std::unique_ptr<GuestMemory> of(const AddressSpace& process);
    ~GuestMemory();
    GuestMemory(const GuestMemory&) = delete;
    GuestMemory& operator=(const GuestMemory&) = delete;

    /// The largest stretch around `address` that can be mapped at once; nothing if its page was not saved.
    std::optional<GuestRegion> region_at(Address address);

    /// Whether this process may now write to the region's bytes, in its own copy of them.
    static bool make_writable(const GuestRegion& region);

    /// Of our own, each with unmapped pages on both sides: code; a stack; the calls of a batch; the count of
    /// visits after each call; what was visited; copies of objects. All but the code begin as zeros.
    struct Room {
        Address code, stack_end, calls, ends, visits, copy;
    };
    const Room& room() const { return room_; }
    /// The bytes of our room from `address` on; empty if `size` bytes are not there.
    std::span<std::byte> own(Address address, std::uint64_t size);

    /// Reads the process' memory or our own.
    bool read(Address address, void* out, std::uint64_t size) const;
    /// Writes our own; false, with nothing written, anywhere else, unless somebody takes that over.
    bool write(Address address, const void* bytes, std::uint64_t size);
    using WriteElsewhere = std::function<bool(Address, const void*, std::uint64_t)>;
    void set_write_elsewhere(WriteElsewhere write) { write_elsewhere_ = std::move(write); }

private:
    struct Own {
        AddressRange range;
        std::byte* bytes = nullptr;
        bool writable = false, executable = false;
    };
    explicit GuestMemory(const AddressSpace& process) : process_(process) {}
    bool make_room();
    const Own* own_at(Address address, std::uint64_t size) const;
    std::optional<GuestRegion> last_page(const Segment& segment, Address address);

    const AddressSpace& process_;
    Room room_;
    std::vector<Own> own_;
    std::byte* reserved_ = nullptr;
    std::uint64_t reserved_bytes_ = 0;
    std::map<Address, std::vector<std::byte>> last_pages_;  // of files, by address
    WriteElsewhere write_elsewhere_;
};

}  // namespace heapsift
