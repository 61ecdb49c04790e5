#include "parsers/elf/word_sweep.h"

// The inner loop is a separate function, so that registers hold only the table and the position. Four
// instructions a word.

namespace heapsift {

AddressSet::AddressSet(std::vector<std::uint64_t> addresses)
    : sorted_(std::move(addresses)), counts_(slot_count), bits_(slot_count / 64) {
    std::sort(sorted_.begin(), sorted_.end());
    sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
    for (const std::uint64_t a : sorted_) {
        if (counts_[slot(a)] != 0xff) ++counts_[slot(a)];
        bits_[other_slot(a) / 64] |= std::uint64_t{1} << (other_slot(a) % 64);
    }
}

std::vector<SweepPiece> pieces_to_sweep(const AddressSpace& memory, std::uint64_t most) {
    std::vector<SweepPiece> pieces;
    for (const Segment& segment : memory.segments()) {
        if (segment.state != ByteState::in_core || !segment.writable) continue;
        memory.visit_written(segment, [&](std::uint64_t from, std::uint64_t to) {
            for (std::uint64_t at = from; at < to;) {
                // Words are aligned by their address, not by their place in the segment.
                const std::uint64_t cut = (segment.start + at + most).rounded_down(8) - segment.start;
                const std::uint64_t end = to - at <= most ? to : cut;
                pieces.push_back({&segment, at, end});
                at = end;
            }
        });
    }
    return pieces;
}

std::vector<std::size_t> batches_of(std::span<const SweepPiece> pieces, std::uint64_t least) {
    std::vector<std::size_t> begins{0};
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        bytes += pieces[i].to - pieces[i].from;
        if (bytes < least && i + 1 < pieces.size()) continue;
        begins.push_back(i + 1);
        bytes = 0;
    }
    return begins;
}

std::uint64_t AddressSet::next_in(const std::byte* data, std::uint64_t at, std::uint64_t stop) const {
    constexpr std::uint64_t group = 8, ahead = 2048;
    const std::uint8_t* const counts = counts_.data();
    auto word_at = [data](std::uint64_t offset) {
        std::uint64_t word = 0;
        std::memcpy(&word, data + offset, 8);
        return word;
    };
    for (;;) {
        for (; at + 8 * group <= stop; at += 8 * group) {
            unsigned any = 0;
            __builtin_prefetch(data + at + ahead);  // what lies on the next page is not foreseen
#pragma GCC unroll 8
            for (std::uint64_t i = 0; i < group; ++i) any |= counts[slot(word_at(at + 8 * i))];
            if (any) break;
        }
        for (std::uint64_t i = 0; i < group; ++i, at += 8) {
            if (at + 8 > stop) return at;
            if (contains(word_at(at))) return at;
        }
    }
}

}  // namespace heapsift
