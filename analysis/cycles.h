#pragma once

// Objects that keep each other alive: what they are, how they refer to each other, and why they are still
// there. (How equal ones are told: cycles.cpp; why they are there: cycle_reasons.h.)

#include "analysis/cycle_reasons.h"
#include "analysis/edges.h"
#include "analysis/object_states.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// Which cycles are shown. It does not change their ids.
struct CyclesQuery {
    bool unreachable = true;    // garbage that waits, or that no traverse sees
    bool uncollectable = true;  // garbage that is never freed: uncollectable and invisible
    bool reachable = false;     // those in use as well
};

/// A strongly connected component over the references that are followed: more than one object, or one that
/// refers to itself.
struct Cycle {
    // from 1 on: first an example of each kind of garbage, then the others, then what is in use
    std::uint32_t id = 0;
    std::uint32_t equal_to = 0;  // the id of the first of its kind; 0 for that one itself
    ObjectState state = ObjectState::waiting;
    CycleReason reason;
    std::uint64_t count = 0, size = 0;
    std::uint64_t freed_count = 0,
                  retained = 0;  // by reference counts, if it went: its members included; bytes of memory
    std::uint32_t component = 0;
    std::uint64_t kind = 0;  // equal for equal cycles
};

/// Equal cycles: by the types of their members and the names of the references between them, and why they are
/// there.
struct CycleKind {
    std::uint32_t example = 0;  // the id of the first
    std::uint64_t cycles = 0, objects = 0, size = 0, retained = 0;
};

struct CyclesHeld {
    std::uint64_t cycles = 0, objects = 0, bytes = 0;
};

/// A step of a cycle, as it is printed: the type of an object, and what it calls the next.
struct CycleStep {
    std::string type;
    ReferenceStep name;
};

struct CyclePath {
    std::vector<CycleStep> steps;  // cut
    std::uint64_t length = 0;      // objects on it
};

struct CycleDetails {
    std::vector<ObjectRow> members;  // cut
    std::vector<EdgeRow> edges;      // between members, cut
    std::uint64_t edge_count = 0;
    std::vector<EdgeRow> opening;  // cut
    std::uint64_t opening_count = 0;
    bool opening_is_smallest = false;
};

class Cycles {
public:
    Cycles(const HeapGraph& graph, const ObjectStates& states, const CyclesQuery& query,
           const ProgressCallback& progress = {});

    const HeapGraph& graph() const { return graph_; }
    /// By id: all garbage, whether it is shown or not, and behind it what is in use, where that was asked
    /// for.
    const std::vector<Cycle>& all() const { return cycles_; }
    bool shown(const Cycle& cycle) const;
    std::uint64_t shown_count() const { return shown_count_; }
    /// Those of what only references hold that were not found, where what is in use is not shown: their
    /// members alone.
    const CyclesHeld& held() const { return held_; }
    /// Of what is shown: garbage first, then the largest first.
    const std::vector<CycleKind>& kinds() const { return kinds_; }
    /// By address.
    std::span<const ObjectId> members(const Cycle& cycle) const {
        return {members_.data() + first_[cycle.component], members_.data() + first_[cycle.component + 1]};
    }
    /// A shortest way from a member, of a class of the program's where there is one, back to it. What a
    /// person would not write (a `__dict__`, a cell) is no step.
    CyclePath path(const Cycle& cycle, std::size_t most_steps) const;
    /// `limit` 0: all.
    /// How a cycle differs from another that reads like it: "with frame, traceback", "also by .last_error".
    /// Names are not escaped.
    std::string unlike(const Cycle& cycle, const Cycle& other) const;
    CycleDetails details(const Cycle& cycle, std::size_t limit, bool with_opening) const;
    std::string reason_words(const Cycle& cycle) const { return reasons_.words(cycle.reason); }

private:
    void find();
    void count_held();
    void list_members(const std::vector<std::uint32_t>& component_of, std::uint32_t components);
    void measure();
    void group();
    struct Sizes;
    Sizes sizes_of(const std::vector<std::uint32_t>& component_of, std::uint32_t components) const;
    bool holds(ObjectId source, ObjectId target) const {
        return component_of_[target] == component_of_[source] && graph_.follows(source, target);
    }
    std::uint64_t kind_of(std::span<const ObjectId> members);
    ObjectId first_to_show(std::span<const ObjectId> members) const;

    const ObjectStates& states_;
    const HeapGraph& graph_;
    const HeapReader& heap_;
    CyclesQuery query_;
    CycleReasons reasons_;
    std::vector<std::uint32_t> component_of_;  // by object; components that are cycles are numbered anew
    std::vector<std::uint64_t> first_;         // by component, and one more
    std::vector<ObjectId> members_;
    std::vector<TypeId> owner_of_dict_;  // by object: whose __dict__ it is; else no_type
    std::vector<Cycle> cycles_;
    std::vector<CycleKind> kinds_;
    std::uint64_t shown_count_ = 0;
    CyclesHeld held_;
};

}  // namespace heapsift
