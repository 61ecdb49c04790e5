// A run takes 32 bytes, and each of its blocks one bit. A block is found by a binary search over the runs, of which
// there is one for each 8 to 64 KiB, and a division.

#include "parsers/memory/block_runs.h"

#include <algorithm>

namespace heapsift {

std::size_t BlockRuns::add(Address start, std::uint64_t bytes, std::uint64_t count, bool in_use) {
    runs_.push_back({start, bytes, count, bits_});
    in_use_.resize((bits_ + count + 63) / 64);
    for (std::uint64_t bit = bits_; in_use && bit < bits_ + count; ++bit)
        in_use_[bit / 64] |= std::uint64_t{1} << (bit % 64);
    bits_ += count;
    return runs_.size() - 1;
}

bool BlockRuns::set(std::size_t run, std::uint64_t block, bool in_use) {
    const std::uint64_t bit = runs_[run].first + block, mask = std::uint64_t{1} << (bit % 64);
    std::uint64_t& word = in_use_[bit / 64];
    const bool was = (word & mask) != 0;
    word = in_use ? word | mask : word & ~mask;
    return was != in_use;
}

std::size_t BlockRuns::finish() {
    std::stable_sort(runs_.begin(), runs_.end(),
                     [](const Run& a, const Run& b) { return a.start < b.start; });
    const std::size_t before = runs_.size();
    Address end;
    std::erase_if(runs_, [&](const Run& run) {
        if (run.start < end || run.count == 0 || run.bytes == 0) return true;
        end = run.start + run.bytes * run.count;
        return false;
    });
    return before - runs_.size();
}

std::optional<BlockRuns::Place> BlockRuns::place_of(Address address) const {
    const auto above = std::upper_bound(runs_.begin(), runs_.end(), address,
                                        [](Address a, const Run& run) { return a < run.start; });
    if (above == runs_.begin()) return std::nullopt;
    const Run& run = *(above - 1);
    const std::uint64_t block = (address - run.start) / run.bytes;
    if (block >= run.count) return std::nullopt;
    return Place{static_cast<std::size_t>(above - 1 - runs_.begin()), block, run.start + block * run.bytes,
                 run.bytes};
}

std::optional<MemoryBlock> BlockRuns::block_at(Address address) const {
    const auto place = place_of(address);
    if (!place) return std::nullopt;
    return MemoryBlock{place->start, place->bytes, is_in_use(*place)};
}

void BlockRuns::visit_blocks(const Allocator::BlockVisitor& visit) const {
    constexpr std::size_t at_once = 512;
    constexpr std::uint64_t near = 1 << 16;  // one visit tells of blocks that lie together
    std::vector<MemoryBlock> blocks;
    for (std::size_t run = 0; run < runs_.size(); ++run) {
        const Run& of = runs_[run];
        if (!blocks.empty() && of.start - blocks.back().range().end > near) {
            visit(blocks);
            blocks.clear();
        }
        for (std::uint64_t i = 0; i < of.count; ++i) {
            blocks.push_back({of.start + i * of.bytes, of.bytes, is_in_use(run, i)});
            if (blocks.size() == at_once) {
                visit(blocks);
                blocks.clear();
            }
        }
    }
    if (!blocks.empty()) visit(blocks);
}

}  // namespace heapsift
