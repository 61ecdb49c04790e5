#pragma once

// The path by which a person would say that something is alive: the cheapest from a root to an object, with a
// cost for each kind of reference. (The costs: root_paths.cpp.)

#include "analysis/graph/shortest_paths.h"
#include "analysis/holding/heap_graph.h"
#include "analysis/holding/step_numbers.h"
#include "parsers/base/narrow_numbers.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace heapsift {

struct PathWishes {
    bool without_frames = false;      // no frame, running or not, may be on a path
    bool without_tracebacks = false;  // no traceback may
    std::vector<ObjectId> without;    // sorted: nor any of these
    bool name_steps = false;          // fill `steps` and `order`: 6 bytes more per object
    bool calls_last =
        false;  // what lasts is named before locals of running calls, the inner ones last; what many
                // hang in before a global that is one of them
};

/// The cheapest paths to objects: columns by object, 6 bytes each.
struct RootPaths {
    static constexpr std::uint32_t none = PathForest::none;

    PathForest forest;
    NarrowNumbers steps;  // with PathWishes::name_steps; else empty
    StepNumbers step_names;

    /// `none` if no path was found (yet).
    std::uint32_t cost(ObjectId object) const { return forest.cost[HeapGraph::node_of(object)]; }
    bool found(ObjectId object) const { return cost(object) != none; }
    /// Frees the costs: for who no longer asks for them, nor what was found.
    void give_up_costs() { forest.cost = NarrowNumbers(); }
    /// The object before it on its path; `no_object` if it hangs at a root.
    ObjectId previous(ObjectId object) const {
        return HeapGraph::object_of(forest.previous[HeapGraph::node_of(object)]);
    }
    /// With PathWishes::name_steps: the number of the name of the last step to an object; `none` if it hangs
    /// at a root.
    std::uint32_t step(ObjectId object) const { return steps[object]; }
    /// The same of any reference, to an object that may have its path from elsewhere; with all paths known.
    std::uint32_t number_step(const HeapGraph& graph, ObjectId source, ObjectId target,
                              const ReferenceName& name);
    /// From the object at the root down to `object`, both included.
    std::vector<ObjectId> path(ObjectId object) const;
    /// With PathWishes::name_steps: in the order in which they were reached, each object after its `previous`.
    const std::vector<NodeId>& order() const { return forest.settled; }
};

/// One search from all roots at once (Dijkstra, with buckets, since costs are small), until the cost of all
/// of `wanted` is known; of all objects if it is empty. The references of objects in `ends` (sorted) are not
/// followed. Unreachable objects have no path. 150 to 300 ns per object looked at.
RootPaths root_paths(const HeapGraph& graph, const PathWishes& wishes, std::vector<ObjectId> wanted = {},
                     std::vector<ObjectId> ends = {}, const ProgressCallback& progress = {});

/// The cheapest path to each object, of those that root_paths finds without wishes: as an index keeps them. A
/// column by object, 4 bytes each.
class EveryRootPath {
public:
    /// One search until all objects have their paths.
    static EveryRootPath find(const HeapGraph& graph, const ProgressCallback& progress = {});

    /// RootPaths::path; empty if there is none. Nothing if what is here cannot be a path in this graph: an
    /// index is not believed. Cost: a look at the references of each object on the path.
    std::optional<std::vector<ObjectId>> path(const HeapGraph& graph, ObjectId object) const;

    /// As a part of an index (parsers/index/part.h), for so many objects.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t objects) {
        part.column(self.previous_,
                    [&](ObjectId previous) { return previous < objects || previous == no_object; });
        part.require(self.previous_.size() == objects, "not every object has a path");
    }

private:
    // By object; `no_object` if it hangs at a root, the object itself if it has no path.
    Stored<ObjectId> previous_;
};

/// The root from which an object's path begins if it hangs at one: its cheapest.
const HeapGraph::PlacedRoot& cheapest_root(const HeapGraph& graph, ObjectId object, bool calls_last = false);

/// The cost of a step with that name: 0 for `.__dict__` and the content of a cell, 1 for an attribute, an
/// item, a local.
std::uint32_t step_cost(const ReferenceName& name);
std::uint32_t root_cost(const Root& root);
/// The same with PathWishes::calls_last.
std::uint32_t lasting_root_cost(const HeapGraph& graph, const Root& root);

}  // namespace heapsift
