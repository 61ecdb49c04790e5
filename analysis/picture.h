#pragma once

// A part of a heap that is small enough to draw.

#include "analysis/holding/retained.h"
#include "analysis/object_row.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct PictureNode {
    NodeId node{0};
    NodeKind kind = NodeKind::object;
    ObjectRow object;     // for an object: address, type, value
    std::string name;     // for a group or a frame. Not escaped
    bool module = false;  // the object is a module
    std::uint64_t retained = 0;
    std::uint32_t distance = 0;  // steps from the object asked for, or from the top
    std::uint64_t left_out = 0;  // neighbours for which there was no room: referrers, or what it dominates
};

struct PictureEdge {
    std::size_t source = 0, target = 0;  // indices into `nodes`
    ReferenceStep name;                  // not known in the dominator tree
    std::uint64_t more = 0;              // parallel references, besides this one
};

struct Picture {
    std::vector<PictureNode> nodes;  // if an object was asked for, it is the first
    std::vector<PictureEdge> edges;
    std::uint32_t deepest = 0;
    bool of_object = false;
};

/// The cheapest path from a root to `object`, its referrers up to `depth` steps away, and its referents
/// likewise; ten of each per node, and `limit` nodes in all, nearest first. References that are not followed
/// are left out, and so are None and the constants of code objects, unless one of them was asked for.
Picture picture_of(const HeapGraph& graph, const RetainedSizes& sizes, ObjectId object, std::size_t depth,
                   std::size_t limit);

/// The top of the dominator tree: the `limit` nodes that retain most, at most `depth` steps below the groups.
Picture picture_of_top(const HeapGraph& graph, const RetainedSizes& sizes, std::size_t depth,
                       std::size_t limit);

}  // namespace heapsift
