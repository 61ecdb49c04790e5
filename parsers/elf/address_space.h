#pragma once

// The memory of the dumped process, as far as it can be known.
//
// Each byte is in one of four states: in the core; in a module's file whose build-id equals the one in the
// core; known to have been mapped, but not saved; or unmapped. A page that was not saved is never read as
// zero, and a read never runs past the end of one segment into whatever follows it in the file: a read that
// straddles two segments is put together from both, or fails.
//
// Segments are sorted, do not overlap and each has one state, so a lookup is a binary search. A heap is read
// some ten times an object, and each read is a lookup; so each thread keeps, for each MiB of addresses (mod
// 64), the segment that was found there last, and tries that one first.

#include "parsers/base/address.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace heapsift {

enum class ByteState : std::uint8_t { in_core, from_file, not_saved, unmapped };

/// One stretch of the dumped memory with one state. `data` holds `size` bytes, or is null where the bytes
/// were not saved.
struct Segment {
    Address start;
    std::uint64_t size = 0;
    const std::byte* data = nullptr;
    ByteState state = ByteState::not_saved;
    bool readable = true;
    bool writable = false;
    bool executable = false;
    bool cut = false;          // the core's headers promise these bytes, and the file ends before them
    std::int32_t module = -1;  // index into the core's modules, -1 for anonymous memory

    Address end() const { return start + size; }
};

class AddressSpace {
public:
    AddressSpace() = default;
    /// `segments` in any order; overlaps are resolved in favour of the earlier one in the vector. Empty ones
    /// are dropped.
    explicit AddressSpace(std::vector<Segment> segments);

    /// Sorted by start, no overlaps.
    std::span<const Segment> segments() const { return segments_; }

    /// The segment that holds `address`, or null where it is unmapped. Thread-safe. A nanosecond where the
    /// thread was near that address before; else a binary search.
    const Segment* find(Address address) const {
        // One table of guesses for all address spaces of a thread: each is checked against the segments
        // before it is believed.
        const std::uint32_t guess = guesses_[guess_slot(address)];
        if (guess < segments_.size() && address - segments_[guess].start < segments_[guess].size)
            return &segments_[guess];
        return search(address);
    }
    ByteState state_of(Address address) const;
    /// How many of the `size` bytes from `address` on are mapped without a gap, saved or not. Cost: the
    /// segments they span.
    std::uint64_t mapped_bytes(Address address, std::uint64_t size) const;
    /// How many of them can be read. The same cost.
    std::uint64_t saved_bytes(Address address, std::uint64_t size) const;
    /// The sum of all segments.
    std::uint64_t total_bytes() const { return total_bytes_; }
    /// Memory that was mapped and that the core does not name. What is known already stays as it is; pointers
    /// to segments do not last.
    void add_not_saved(std::span<const AddressRange> ranges);

    /// Parts of saved bytes that are known to be zero without a look at them: a sparse core's holes. By
    /// address in this process.
    void set_holes(std::vector<std::span<const std::byte>> holes) { holes_ = std::move(holes); }
    /// Calls `visit(from, to)` with the stretches of a saved segment, as offsets, that are not such holes. A
    /// hundred GiB of holes cost nothing; a sweep that reads them would fill the page cache with zeros. Words
    /// that begin before a hole are in a stretch.
    template <class F>
    void visit_written(const Segment& segment, F&& visit) const {
        const std::less<const std::byte*> before;
        const std::byte* at = segment.data;
        const std::byte* const end = segment.data + segment.size;
        auto hole = std::lower_bound(holes_.begin(), holes_.end(), at,
                                     [&](const std::span<const std::byte>& h, const std::byte* p) {
                                         return !before(p, h.data() + h.size());
                                     });
        for (; hole != holes_.end() && before(hole->data(), end); ++hole) {
            const auto to = static_cast<std::uint64_t>(hole->data() - segment.data);
            if (before(at, hole->data()))
                visit(static_cast<std::uint64_t>(at - segment.data), std::min(to + 7, segment.size));
            at = hole->data() + hole->size();
        }
        if (before(at, end)) visit(static_cast<std::uint64_t>(at - segment.data), segment.size);
    }

    /// Copies `size` bytes; false (and `out` unspecified) if any of them is not readable. Straddling reads
    /// are put together.
    bool read_bytes(Address address, void* out, std::size_t size) const;

    /// `size` bytes in place, without a copy; empty if they are not all readable in one segment. size > 0.
    std::span<const std::byte> view(Address address, std::size_t size) const {
        const Segment* s = find(address);
        if (!s || !s->data) return {};
        const std::uint64_t offset = address - s->start;
        if (s->size - offset < size) return {};
        return {s->data + offset, size};
    }

    /// A value of a trivially copyable type; nothing where any of its bytes cannot be read. Little-endian
    /// hosts and cores only.
    template <class T>
    std::optional<T> read(Address address) const {
        static_assert(std::is_trivially_copyable_v<T>);
        T value;
        if (auto bytes = view(address, sizeof(T)); !bytes.empty())
            std::memcpy(&value, bytes.data(), sizeof(T));
        else if (!read_bytes(address, &value, sizeof(T)))
            return std::nullopt;
        return value;
    }
    std::optional<Address> read_address(Address address) const {
        auto v = read<std::uint64_t>(address);
        if (!v) return std::nullopt;
        return Address(*v);
    }
    /// A NUL-terminated string of at most `limit` bytes (without the NUL); nothing if unreadable or longer.
    std::optional<std::string> read_c_string(Address address, std::size_t limit = 4096) const;

    /// Several fields of one struct: looked up once, where the struct lies in one segment.
    class Window {
    public:
        Window(const AddressSpace& memory, Address start, std::size_t size)
            : memory_(memory), start_(start), there_(memory.view(start, size)) {}
        template <class T>
        std::optional<T> read(std::uint64_t offset) const {
            if (offset > there_.size() || there_.size() - offset < sizeof(T))
                return memory_.read<T>(start_ + offset);
            T value;
            std::memcpy(&value, there_.data() + offset, sizeof(T));
            return value;
        }
        /// A pointer, null where it cannot be read.
        Address pointer(std::uint64_t offset) const {
            return Address(read<std::uint64_t>(offset).value_or(0));
        }

    private:
        const AddressSpace& memory_;
        Address start_;
        std::span<const std::byte> there_;
    };

private:
    static std::size_t guess_slot(Address a) { return (a.value >> 20) % 64; }
    const Segment* search(Address address) const;

    std::vector<Segment> segments_;
    std::uint64_t total_bytes_ = 0;
    std::vector<std::span<const std::byte>> holes_;
    static thread_local constinit inline std::array<std::uint32_t, 64> guesses_{};
};

}  // namespace heapsift
