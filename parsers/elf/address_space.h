#pragma once

// The memory of the dumped process, as far as it can be known.
//
// Each byte is in one of four states: in the core; in a module's file whose build-id equals the one in the
// core; known to have been mapped, but not saved; or unmapped. A page that was not saved is never read as
// zero. A read never runs past the end of a segment into whatever follows it in the file: one that straddles
// two segments is put together from both, or fails.
//
// Segments are sorted, do not overlap, and have one state each, so a lookup is a binary search. Reading a
// heap takes about ten reads an object, and each read is a lookup. So each thread remembers, for each MiB of
// addresses (mod 64), the segment that it last found there, and tries that one first.

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

/// A stretch of the dumped memory in one state. `data` holds `size` bytes, or is null if they were not saved.
struct Segment {
    Address start;
    std::uint64_t size = 0;
    const std::byte* data = nullptr;
    ByteState state = ByteState::not_saved;
    bool readable = true;
    bool writable = false;
    bool executable = false;
    bool cut = false;          // the core's headers promise these bytes, but the file ends before them
    std::int32_t module = -1;  // index into the core's modules, -1 for anonymous memory

    Address end() const { return start + size; }
};

class AddressSpace {
public:
    AddressSpace() = default;
    /// `segments` come in any order. Where they overlap, the earlier one in the vector wins. Empty ones are
    /// dropped.
    explicit AddressSpace(std::vector<Segment> segments);

    /// Sorted by start, no overlaps.
    std::span<const Segment> segments() const { return segments_; }

    /// The segment that holds `address`, or null if it is unmapped. Thread-safe. Takes a nanosecond if this
    /// thread was last near that address, else a binary search.
    const Segment* find(Address address) const {
        // A thread has one table of guesses for all address spaces: each guess is checked against the
        // segments before it is believed.
        const std::uint32_t guess = guesses_[guess_slot(address)];
        if (guess < segments_.size() && address - segments_[guess].start < segments_[guess].size)
            return &segments_[guess];
        return search(address);
    }
    ByteState state_of(Address address) const;
    /// How many of the `size` bytes from `address` on are mapped without a gap, saved or not. Cost:
    /// proportional to the segments that they span.
    std::uint64_t mapped_bytes(Address address, std::uint64_t size) const;
    /// How many of them can be read. Same cost.
    std::uint64_t saved_bytes(Address address, std::uint64_t size) const;
    /// The sum of all segments.
    std::uint64_t total_bytes() const { return total_bytes_; }
    /// Adds memory that was mapped but is not named in the core. What is already known stays as it is.
    /// Invalidates pointers to segments.
    void add_not_saved(std::span<const AddressRange> ranges);

    /// The parts of saved bytes that are known to be zero without being read: a sparse core's holes, by their
    /// address in this process. Sweeps skip those of at least `worth_skipping` bytes.
    void set_holes(std::vector<std::span<const std::byte>> holes, std::size_t worth_skipping = 1);
    bool has_holes() const { return !holes_.empty(); }
    /// Calls `visit(from, to)` with the holes in a saved segment, as offsets.
    template <class F>
    void visit_holes(const Segment& segment, F&& visit) const {
        const std::less<const std::byte*> before;
        const std::byte* const end = segment.data + segment.size;
        for (auto hole = first_hole(holes_, segment.data); hole != holes_.end() && before(hole->data(), end);
             ++hole)
            visit(static_cast<std::uint64_t>(std::max(hole->data(), segment.data, before) - segment.data),
                  static_cast<std::uint64_t>(std::min(hole->data() + hole->size(), end, before) -
                                             segment.data));
    }
    /// Calls `visit(from, to)` with the stretches of a saved segment, as offsets, outside the holes worth
    /// skipping. A hundred GiB of holes then cost nothing; a sweep that read them would fill the page cache
    /// with zeros. Words that begin before a hole belong to the stretch before it.
    template <class F>
    void visit_written(const Segment& segment, F&& visit) const {
        const std::less<const std::byte*> before;
        const std::byte* at = segment.data;
        const std::byte* const end = segment.data + segment.size;
        auto hole = first_hole(large_holes_, at);
        for (; hole != large_holes_.end() && before(hole->data(), end); ++hole) {
            const auto to = static_cast<std::uint64_t>(hole->data() - segment.data);
            if (before(at, hole->data()))
                visit(static_cast<std::uint64_t>(at - segment.data), std::min(to + 7, segment.size));
            at = hole->data() + hole->size();
        }
        if (before(at, end)) visit(static_cast<std::uint64_t>(at - segment.data), segment.size);
    }

    /// Copies `size` bytes, also across segments. False, with `out` unspecified, if any of them cannot be
    /// read.
    bool read_bytes(Address address, void* out, std::size_t size) const;

    /// `size` bytes in place, without a copy; empty if they cannot all be read in one segment. size > 0.
    std::span<const std::byte> view(Address address, std::size_t size) const {
        const Segment* s = find(address);
        if (!s || !s->data) return {};
        const std::uint64_t offset = address - s->start;
        if (s->size - offset < size) return {};
        return {s->data + offset, size};
    }

    /// All that can be read from `address` on in its segment, in place; empty if nothing can.
    std::span<const std::byte> from(Address address) const {
        const Segment* s = find(address);
        if (!s || !s->data) return {};
        const std::uint64_t offset = address - s->start;
        return {s->data + offset, s->size - offset};
    }

    /// Prefetches what lies at `address`, if that can be read.
    void fetch(Address address) const {
        const Segment* s = find(address);
        if (s && s->data) __builtin_prefetch(s->data + (address - s->start));
    }

    /// A value of a trivially copyable type; nothing if any of its bytes cannot be read. Little-endian hosts
    /// and cores only.
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

    /// Reads several fields of one struct with a single lookup, if the struct lies in one segment.
    class Window {
    public:
        Window(const AddressSpace& memory, Address start, std::size_t size)
            : Window(memory, start, memory.view(start, size)) {}
        /// The same where the bytes from `start` on are at hand.
        Window(const AddressSpace& memory, Address start, std::span<const std::byte> there)
            : memory_(memory), start_(start), there_(there) {}
        template <class T>
        std::optional<T> read(std::uint64_t offset) const {
            if (offset > there_.size() || there_.size() - offset < sizeof(T))
                return memory_.read<T>(start_ + offset);
            T value;
            std::memcpy(&value, there_.data() + offset, sizeof(T));
            return value;
        }
        /// A pointer; null if it cannot be read.
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
    using Holes = std::vector<std::span<const std::byte>>;
    /// The first that ends behind `at`.
    static Holes::const_iterator first_hole(const Holes& holes, const std::byte* at) {
        const std::less<const std::byte*> before;
        return std::lower_bound(holes.begin(), holes.end(), at,
                                [&](const std::span<const std::byte>& hole, const std::byte* p) {
                                    return !before(p, hole.data() + hole.size());
                                });
    }
    Holes holes_, large_holes_;  // in order
    static thread_local constinit inline std::array<std::uint32_t, 64> guesses_{};
};

}  // namespace heapsift
