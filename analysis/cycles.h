#pragma once

// Objects that keep each other alive: what they are, how many cycles are equal, and why they have not been
// freed. (How equal cycles are recognized: cycles.cpp; the reasons: cycle_reasons.h; one cycle in full:
// cycle_details.h.)

#include "analysis/cycle_details.h"
#include "analysis/cycle_reasons.h"
#include "analysis/work.h"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

struct CyclesQuery {
    // Which cycles are shown. Ids do not depend on this.
    bool unreachable = true;    // garbage not yet collected, or that no traverse sees
    bool uncollectable = true;  // garbage that is never freed: uncollectable and invisible
    bool reachable = false;     // also those in use
    // How many kinds, and how many objects in gc.garbage, are described in full; 0: all.
    std::size_t kinds = 20, garbage_list = 20;
};

/// A strongly connected component over the references that are followed: more than one object, or one that
/// refers to itself.
struct Cycle {
    // from 1: first one example of each kind of garbage, then the other garbage, then what is in use
    std::uint32_t id = 0;
    std::uint32_t equal_to = 0;  // the id of the first of its kind; 0 for that one itself
    ObjectState state = ObjectState::waiting;
    CycleReason reason;
    std::uint32_t reason_words = 0;  // index into CyclesResult::reasons
    std::uint64_t count = 0, size = 0;
    // what reference counts would free if the cycle went away, its members included; bytes of memory
    std::uint64_t freed_count = 0, retained = 0;
    std::uint32_t component = 0;
    std::uint64_t kind = 0;  // equal for equal cycles
};

/// Equal cycles: the same types of members, the same names of the references between them, and the same
/// reason.
struct CycleKind {
    std::uint32_t example = 0;  // the id of the first one
    std::uint64_t cycles = 0, objects = 0, size = 0, retained = 0;
    // Only for the first CyclesQuery::kinds kinds:
    CyclePath path;           // of the example
    std::uint32_t alike = 0;  // the example of an earlier kind whose path and reason read the same; 0: none
    std::string unlike;       // how it differs from that one: "also by .last_error". Not escaped
};

struct CycleSum {
    std::uint64_t cycles = 0, objects = 0, bytes = 0;
};

struct CyclesResult {
    CyclesQuery query;
    /// By id: all garbage, shown or not; then what is in use, if that was asked for.
    std::vector<Cycle> cycles;
    /// Of the cycles that are shown: garbage first, then the largest first.
    std::vector<CycleKind> kinds;
    std::vector<std::string> reasons;  // why cycles have not been freed, each once. Not escaped
    CycleMembers members;              // by Cycle::component
    std::uint64_t shown_count = 0, shown_objects = 0, shown_size = 0;
    CycleSum waiting, never, used;  // shown: garbage not yet collected; never freed; in use
    std::uint64_t guessed = 0;      // cycles of `waiting` that rest on guesses
    /// Cycles that only references that were not found hold, if those in use are not shown: their members
    /// alone.
    CycleSum held;
    std::array<std::uint64_t, 5> objects_in_state{};  // all objects, by ObjectState
    bool certain = true;                              // Collection::certain
    std::uint64_t in_use_bytes = 0;                   // by the process; 0 if that was not computed
    std::vector<ObjectRow> garbage_list;              // the items of gc.garbage, in order; cut to the limit

    bool shown(const Cycle& cycle) const;
    /// By address; never empty.
    std::span<const ObjectId> members_of(const Cycle& cycle) const { return members.of(cycle.component); }
    const std::string& reason(const Cycle& cycle) const { return reasons[cycle.reason_words]; }
};

/// Replays the collector, and searches twice for components; some microseconds per member of a cycle, and 4
/// bytes per object.
CyclesResult cycles(Work& work, const CyclesQuery& query);

/// One cycle with everything that is known about it.
struct CycleRow {
    Cycle cycle;
    CyclePath path;
    CycleDetails details;
    std::string reason;   // not escaped
    bool certain = true;  // is_certain of its first member
};

/// What is wanted of a cycle.
struct CycleWishes {
    std::size_t steps = 4;   // of its path, at most
    std::size_t limit = 50;  // of members and of references, at most; 0: all
    bool opening = false;    // which references to break: looks at all of them, and computes CycleOpening
};

CycleRow cycle_row(Work& work, const CyclesResult& result, const Cycle& cycle, const CycleWishes& wishes);

}  // namespace heapsift
