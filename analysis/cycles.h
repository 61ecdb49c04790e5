#pragma once

// Objects that keep each other alive: what they are, how many are equal, and why they are still there. (How equal
// ones are told: cycles.cpp; why they are there: cycle_reasons.h; one in full: cycle_details.h.)

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
    // Which cycles are shown. It does not change their ids.
    bool unreachable = true;    // garbage that waits, or that no traverse sees
    bool uncollectable = true;  // garbage that is never freed: uncollectable and invisible
    bool reachable = false;     // those in use as well
    // Of how many kinds, and of how many objects in gc.garbage, everything is said; 0: of all.
    std::size_t kinds = 20, garbage_list = 20;
};

/// A strongly connected component over the references that are followed: more than one object, or one that
/// refers to itself.
struct Cycle {
    // from 1 on: first an example of each kind of garbage, then the others, then what is in use
    std::uint32_t id = 0;
    std::uint32_t equal_to = 0;  // the id of the first of its kind; 0 for that one itself
    ObjectState state = ObjectState::waiting;
    CycleReason reason;
    std::uint32_t reason_words = 0;  // a place in CyclesResult::reasons
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
    // Of the first CyclesQuery::kinds of them:
    CyclePath path;           // of the example
    std::uint32_t alike = 0;  // the example of an earlier kind whose path and reason read the same; 0: none
    std::string unlike;       // and how it differs from that: "also by .last_error". Not escaped
};

struct CycleSum {
    std::uint64_t cycles = 0, objects = 0, bytes = 0;
};

struct CyclesResult {
    CyclesQuery query;
    /// By id: all garbage, whether it is shown or not, and behind it what is in use, where that was asked
    /// for.
    std::vector<Cycle> cycles;
    /// Of what is shown: garbage first, then the largest first.
    std::vector<CycleKind> kinds;
    std::vector<std::string> reasons;  // why cycles are still there, each once. Not escaped
    CycleMembers members;              // by Cycle::component
    std::uint64_t shown_count = 0, shown_objects = 0, shown_size = 0;
    CycleSum waiting, never, used;  // of what is shown: garbage that waits, that is never freed; in use
    /// Those of what only references hold that were not found, where what is in use is not shown: their
    /// members alone.
    CycleSum held;
    std::array<std::uint64_t, 5> objects_in_state{};  // of all objects, by ObjectState
    bool certain = true;                              // Collection::certain
    std::uint64_t mapped_bytes = 0;                   // of the core
    std::vector<ObjectRow> garbage_list;              // what is in gc.garbage, in its order; cut

    bool shown(const Cycle& cycle) const;
    /// By address; never empty.
    std::span<const ObjectId> members_of(const Cycle& cycle) const { return members.of(cycle.component); }
    const std::string& reason(const Cycle& cycle) const { return reasons[cycle.reason_words]; }
};

/// It has the collector replayed. Two searches for components, and some microseconds for each member of one; 4
/// bytes an object.
CyclesResult cycles(Work& work, const CyclesQuery& query);

/// One cycle with everything that is said of it.
struct CycleRow {
    Cycle cycle;
    CyclePath path;
    CycleDetails details;
    std::string reason;   // not escaped
    bool certain = true;  // is_certain, of its first member
};

/// What of a cycle is wanted.
struct CycleWishes {
    std::size_t steps = 4;   // of its path, at most
    std::size_t limit = 50;  // of members and of references, at most; 0: all
    bool opening = false;    // which references to break: a look at all of them, and CycleOpening
};

CycleRow cycle_row(Work& work, const CyclesResult& result, const Cycle& cycle, const CycleWishes& wishes);

}  // namespace heapsift
