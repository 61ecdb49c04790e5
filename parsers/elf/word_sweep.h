#pragma once

// Sweeps over all words of the saved, writable memory: the one way to find what no list holds. A sweep costs about as much as
// reading the memory once: a word is compared with the range of the addresses looked for, then with a filter of bits that stays
// in the first-level cache, and only then looked up.

#include "parsers/elf/address_space.h"

#include <algorithm>
#include <vector>

namespace heapsift {

/// A set of addresses, made once, that answers "surely not" within a nanosecond.
class AddressSet {
public:
    /// Any order; duplicates allowed.
    explicit AddressSet(std::vector<std::uint64_t> addresses) : sorted_(std::move(addresses)), bits_(bit_count / 64) {
        std::sort(sorted_.begin(), sorted_.end());
        sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
        for (const std::uint64_t a : sorted_) bits_[slot(a) / 64] |= std::uint64_t{1} << (slot(a) % 64);
        if (!sorted_.empty()) {
            first_ = sorted_.front();
            span_ = sorted_.back() - first_;
        }
    }
    bool empty() const { return sorted_.empty(); }
    const std::vector<std::uint64_t>& sorted() const { return sorted_; }
    bool contains(std::uint64_t a) const {
        if (a - first_ > span_) return false;
        if (!(bits_[slot(a) / 64] >> (slot(a) % 64) & 1)) return false;
        return std::binary_search(sorted_.begin(), sorted_.end(), a);
    }

private:
    static constexpr std::uint64_t bit_count = 1 << 18;
    static std::uint64_t slot(std::uint64_t a) { return ((a >> 4) ^ (a >> 22)) % bit_count; }

    std::vector<std::uint64_t> sorted_;
    std::vector<std::uint64_t> bits_;
    std::uint64_t first_ = 1;
    std::uint64_t span_ = 0;
};

/// Calls `hit(address of the word, its value)` for every aligned word in `ranges` of saved, writable memory that is in `set`.
/// `skip`: sorted ranges that are left out.
template <class F>
void sweep_words(const AddressSpace& memory, const AddressSet& set, std::span<const AddressRange> skip, F&& hit) {
    if (set.empty()) return;
    for (const Segment& segment : memory.segments()) {
        if (segment.state != ByteState::in_core || !segment.writable) continue;
        memory.visit_written(segment, [&](std::uint64_t from, std::uint64_t to) {
            std::uint64_t at = (segment.start + from + 7).rounded_down(8) - segment.start;
            auto next_skip = std::lower_bound(skip.begin(), skip.end(), segment.start + from,
                                              [](const AddressRange& r, Address a) { return r.end <= a; });
            while (at + 8 <= to) {
                std::uint64_t stop = to;
                if (next_skip != skip.end() && next_skip->start < segment.start + to) {
                    const std::uint64_t skip_from = next_skip->start > segment.start ? next_skip->start - segment.start : 0;
                    if (skip_from <= at) {
                        at = (std::max)(at, std::min(next_skip->end - segment.start, to));
                        at = (segment.start + at + 7).rounded_down(8) - segment.start;
                        ++next_skip;
                        continue;
                    }
                    stop = skip_from;
                }
                const std::byte* data = segment.data;
                for (; at + 8 <= stop; at += 8) {
                    std::uint64_t word;
                    std::memcpy(&word, data + at, 8);
                    if (set.contains(word)) hit(segment.start + at, word);
                }
                if (at + 8 > stop && stop < to) at = stop;
            }
        });
    }
}

}  // namespace heapsift
