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

/// Which objects are in which cycle: 4 bytes an object and 4 a member.
struct CycleMembers {
    static constexpr std::uint32_t none = 0xffffffff;

    std::vector<std::uint32_t> component;  // by object: the cycle that it is in; `none` where it is in none
    std::vector<std::uint64_t> first{0};   // by component, and one more: the place of its first in `objects`
    std::vector<ObjectId> objects;         // those of one component together, by address

    std::uint32_t count() const { return static_cast<std::uint32_t>(first.size() - 1); }
    std::span<const ObjectId> of(std::uint32_t component_number) const {
        return {objects.data() + first[component_number], objects.data() + first[component_number + 1]};
    }
    /// Is it a reference between two members of one cycle? `source` is in one.
    bool joins(const HeapGraph& graph, ObjectId source, ObjectId target) const {
        return component[target] == component[source] && graph.follows(source, target);
    }
};

/// A step of a cycle: the type of an object, and what it calls the next.
struct CycleStep {
    std::string type;
    ReferenceStep name;
};

struct CyclePath {
    std::vector<CycleStep> steps;
    std::uint64_t length = 0;  // objects on it
    bool cut = false;          // there are more steps
};

struct CycleDetails {
    std::vector<ObjectRow> members;  // cut
    std::vector<EdgeRow> edges;      // between members, cut
    std::uint64_t edge_count = 0;    // without the opening: no more than were looked at
    std::vector<EdgeRow> opening;    // cut
    std::uint64_t opening_count = 0;
    bool opening_is_smallest = false;
};

/// A shortest way from a member, of a class of the program's where there is one, back to it. What a person
/// would not write (a `__dict__`, a cell) is no step. Its cost is that of the component's references.
CyclePath cycle_path(const HeapGraph& graph, const CycleMembers& members, std::uint32_t component,
                     std::size_t most_steps);

/// Do both read the same, but for addresses?
bool read_alike(const CyclePath& one, const CyclePath& other);

/// How a cycle differs from another that reads like it: "with frame, traceback", "also by .last_error". Names
/// are not escaped. It looks at a thousand members of each.
std::string cycle_unlike(const HeapGraph& graph, const CycleMembers& members, std::uint32_t component,
                         std::uint32_t other);

/// `limit` 0: all. With the opening all references are looked at.
CycleDetails cycle_details(const HeapGraph& graph, const ObjectStates& states, const CycleMembers& members,
                           std::uint32_t component, std::size_t limit, bool with_opening);

}  // namespace heapsift
