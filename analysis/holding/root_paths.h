#pragma once

// The path by which a person would say that something is alive: from a root to an object, the cheapest by a
// cost for each kind of reference. (The costs: root_paths.cpp.)

#include "analysis/graph/shortest_paths.h"
#include "analysis/holding/heap_graph.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// What a step's name is made of, as far as that tells steps apart.
enum class ReferenceForm : std::uint8_t { attribute, index, item, key };

struct PathWishes {
    bool without_frames = false;      // no frame, running or not, is on a path
    bool without_tracebacks = false;  // no traceback
    std::vector<ObjectId> without;    // sorted: nor one of these
    bool name_steps = false;          // `step` is wanted: 4 bytes an object more
};

/// Steps that have one name, but for indices and keys: all items of lists are one, all attributes `.left` are
/// one. As an example one of them: what the reference from `source` to `target` is called.
struct StepName {
    ReferenceForm form;
    ObjectId source = no_object, target = no_object;
};

/// The cheapest paths of objects: columns by object, 8 bytes each.
struct RootPaths {
    static constexpr std::uint32_t none = PathForest::none;

    PathForest forest;
    std::vector<std::uint32_t> steps;  // of PathWishes::name_steps; else empty
    std::vector<StepName> step_names;

    /// `none` where no path was found (yet).
    std::uint32_t cost(ObjectId object) const { return forest.cost[HeapGraph::node_of(object)]; }
    bool found(ObjectId object) const { return cost(object) != none; }
    /// The object before it on its path; `no_object` where it hangs at a root.
    ObjectId previous(ObjectId object) const {
        return HeapGraph::object_of(forest.previous[HeapGraph::node_of(object)]);
    }
    /// Of PathWishes::name_steps: the number of the name of the last step to an object; `none` where it hangs
    /// at a root.
    std::uint32_t step(ObjectId object) const { return steps[object]; }
    /// From the object at the root down to `object`, both included.
    std::vector<ObjectId> path(ObjectId object) const;
    /// In the order in which they were reached: an object comes after its `previous`.
    const std::vector<NodeId>& order() const { return forest.settled; }
};

/// One search from all roots at once (Dijkstra, with buckets: costs are small), until the cost of all of
/// `wanted` is known; of all objects where it is empty. The references of objects in `ends` (sorted) are not
/// followed. What is unreachable has no path. 150 to 300 ns for each object that is looked at.
RootPaths root_paths(const HeapGraph& graph, const PathWishes& wishes, std::vector<ObjectId> wanted = {},
                     std::vector<ObjectId> ends = {}, const ProgressCallback& progress = {});

/// The root from which the path of an object begins that hangs at one: of those that it has the cheapest.
const HeapGraph::PlacedRoot& cheapest_root(const HeapGraph& graph, ObjectId object);

/// What a step of that name costs: 0 for `.__dict__` and the content of a cell, 1 for an attribute, an item,
/// a local.
std::uint32_t step_cost(const ReferenceName& name);
std::uint32_t root_cost(const Root& root);

}  // namespace heapsift
