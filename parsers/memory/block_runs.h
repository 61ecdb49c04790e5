#pragma once

// Blocks of one size in a row: how allocators without headers between their blocks divide memory. (What a run
// costs, and how a block is found: block_runs.cpp.)

#include "parsers/memory/allocator.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace heapsift {

class BlockRuns {
public:
    /// Adds `count` blocks of `bytes` bytes each from `start` on, in use or free. Returns the run's index, by which
    /// its blocks are named until `finish`. The caller has made sure that the run does not wrap around.
    std::size_t add(Address start, std::uint64_t bytes, std::uint64_t count, bool in_use);
    /// Marks a block as free. False if it was free already.
    bool set_free(std::size_t run, std::uint64_t block) { return set(run, block, false); }
    bool is_in_use(std::size_t run, std::uint64_t block) const {
        const std::uint64_t bit = runs_[run].first + block;
        return (in_use_[bit / 64] >> (bit % 64) & 1) != 0;
    }
    /// How many bytes the bits take: grows with the blocks that were added.
    std::uint64_t blocks() const { return bits_; }

    /// Sorts the runs, and drops each that overlaps one before it. From then on the blocks can be looked up; indexes
    /// of `add` are no longer valid. Returns how many were dropped.
    std::size_t finish();

    /// The run and the block in it that hold an address.
    struct Place {
        std::size_t run;
        std::uint64_t block;
        Address start;  // of the block
        std::uint64_t bytes;
    };
    std::optional<Place> place_of(Address address) const;
    std::optional<MemoryBlock> block_at(Address address) const;
    void visit_blocks(const Allocator::BlockVisitor& visit) const;
    /// Marks the block at a place as free. False if it was free already.
    bool set_free(const Place& place) { return set(place.run, place.block, false); }
    bool is_in_use(const Place& place) const { return is_in_use(place.run, place.block); }

private:
    struct Run {
        Address start;
        std::uint64_t bytes;  // of a block
        std::uint64_t count;
        std::uint64_t first;  // its first bit in in_use_
    };
    bool set(std::size_t run, std::uint64_t block, bool in_use);

    std::vector<Run> runs_;
    std::vector<std::uint64_t> in_use_;  // a bit a block
    std::uint64_t bits_ = 0;
};

}  // namespace heapsift
