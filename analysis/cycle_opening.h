#pragma once

// Which references to cut to break a cycle. (How: cycle_opening.cpp.)

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// A reference from one member to another; members are numbered from 0.
struct MemberEdge {
    std::uint32_t source = 0, target = 0;
    /// How unlikely a person is to cut it: 0 for `.parent`, up to 9.
    std::uint8_t reluctance = 0;
};

struct CycleOpening {
    // Indices of edges, ascending: without these edges there is no cycle, and none of them can be left out.
    std::vector<std::size_t> edges;
    bool smallest = false;  // no smaller set would do
};

inline constexpr std::uint32_t most_members_for_smallest = 12;

/// For up to `most_members_for_smallest` members a smallest set, and among several the least reluctant one;
/// for more members a minimal set, in linear time.
CycleOpening open_cycle(std::uint32_t members, std::span<const MemberEdge> edges);

}  // namespace heapsift
