#pragma once

// Which references to cut so that a cycle is one no more. (How: cycle_opening.cpp.)

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// A reference from one member to another, by their numbers from 0 on.
struct MemberEdge {
    std::uint32_t source = 0, target = 0;
    /// How unlikely a person is to cut it: 0 for `.parent`, up to 9.
    std::uint8_t reluctance = 0;
};

struct CycleOpening {
    std::vector<std::size_t>
        edges;  // numbers of edges, ascending: without them there is no cycle, and none can be left out
    bool smallest = false;  // no smaller set does it
};

inline constexpr std::uint32_t most_members_for_smallest = 12;

/// Of at most `most_members_for_smallest` members the smallest, and of several such the least reluctant; else
/// one that is minimal: linear.
CycleOpening open_cycle(std::uint32_t members, std::span<const MemberEdge> edges);

}  // namespace heapsift
