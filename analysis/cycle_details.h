#pragma once

// One cycle in full: the way round it, its members, the references between them, and which of these to break.

#include "analysis/edges.h"
#include "analysis/holding/heap_graph.h"
#include "analysis/object_states.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// Which objects are in which cycle. Memory: 4 bytes per object, and 4 per member.
struct CycleMembers {
    static constexpr std::uint32_t none = 0xffffffff;

    std::vector<std::uint32_t> component;  // by object: the cycle it is in, or `none`
    // by component, and one more: index of its first member in `objects`
    std::vector<std::uint64_t> first{0};
    std::vector<ObjectId> objects;  // grouped by component, then by address

    std::uint32_t count() const { return static_cast<std::uint32_t>(first.size() - 1); }
    std::span<const ObjectId> of(std::uint32_t component_number) const {
        return {objects.data() + first[component_number], objects.data() + first[component_number + 1]};
    }
    /// True if the reference joins two members of one cycle. `source` must be in a cycle.
    bool joins(const HeapGraph& graph, ObjectId source, ObjectId target) const {
        return component[target] == component[source] && graph.follows(source, target);
    }
};

/// A step of a cycle: the type of an object, and the name of its reference to the next.
struct CycleStep {
    std::string type;
    ReferenceStep name;
    TypeId of = no_type;  // that type
};

struct CyclePath {
    std::vector<CycleStep> steps;
    std::uint64_t length = 0;  // objects on it
    bool cut = false;          // `steps` does not have all of them
};

struct CycleDetails {
    std::vector<ObjectRow> members;  // cut to the limit
    std::vector<EdgeRow> edges;      // between members; cut to the limit
    // if the opening was not asked for: only of the references that were looked at
    std::uint64_t edge_count = 0;
    std::vector<EdgeRow> opening;  // cut to the limit
    std::uint64_t opening_count = 0;
    bool opening_is_smallest = false;
};

/// A shortest path from a member back to itself; from an instance of one of the program's own classes if
/// there is one. What a person would not write (a `__dict__`, a cell) is no step. Cost: linear in the
/// references of the component.
CyclePath cycle_path(const HeapGraph& graph, const CycleMembers& members, std::uint32_t component,
                     std::size_t most_steps);

/// The same through an object of which it is not known whether it is in a cycle: without steps if it is in none. Cost: at
/// most 100,000 objects are looked at.
CyclePath cycle_through(const HeapGraph& graph, ObjectId start, std::size_t most_steps);

/// True if both read the same, apart from addresses.
bool read_alike(const CyclePath& one, const CyclePath& other);

/// How a cycle differs from another that reads the same: "with frame, traceback", "also by .last_error".
/// Names are not escaped. Looks at a thousand members of each.
std::string cycle_unlike(const HeapGraph& graph, const CycleMembers& members, std::uint32_t component,
                         std::uint32_t other);

/// `limit` 0: all. `with_opening` makes it look at all references.
CycleDetails cycle_details(const HeapGraph& graph, const ObjectStates& states, const CycleMembers& members,
                           std::uint32_t component, std::size_t limit, bool with_opening);

}  // namespace heapsift
