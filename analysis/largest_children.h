#pragma once

// What a node of the dominator tree has below it, one level: for who goes through the tree step by step. (A whole
// tree in words: dominators.h.)

#include "analysis/dominators.h"
#include "analysis/steps.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

struct LargestChildren {
    std::vector<NodeId> nodes;         // by what they retain, ties by number; as many as were asked for
    std::uint64_t total = 0;           // all that are shown below the node (shown_children)
    std::uint64_t total_retained = 0;  // bytes, of all of them
};

/// The `most` largest of shown_children. Below the virtual root these are groups; `shared`: the objects that hang
/// there instead, which several groups hold. Cost: some 20 ns for each child.
LargestChildren largest_children(const RetainedLookup& retained, const ModuleNodes& modules, NodeId node,
                                 std::size_t most, bool shared = false);

struct LargestOfType {
    std::vector<ObjectId> objects;  // by what they retain, ties by number; as many as were asked for
    std::uint64_t count = 0;        // all of the type
};

/// The `most` objects of a type that retain most. Cost: some 2 ns for each object of the heap, and 60 for each of the
/// type; nothing where it is kept in `answers`, which may be null.
LargestOfType largest_of_type(const RetainedLookup& retained, TypeId type, std::size_t most,
                              KeptAnswers* answers = nullptr);

/// What the node above each of `children` calls it: an attribute, of a module whose dict is left out; a local, of a
/// call. Not known where that does not refer to it itself. Cost: each object above is read once.
std::vector<ReferenceStep> names_of_children(const RetainedLookup& retained, const ModuleNodes& modules,
                                             std::span<const NodeId> children);

}  // namespace heapsift
