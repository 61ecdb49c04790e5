#pragma once

// Why a cycle is still there, in plain words.

#include "analysis/object_states.h"
#include "parsers/cpython/gc_state.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

struct CycleReason {
    enum class Kind : std::uint8_t {
        in_use,  // a root reaches it
        held,    // only what was not found holds it
        young,   // the next collection of its generation would find it
        middle,
        old,
        hanging,           // not tracked, and held by garbage that waits
        collecting,        // a collection was under way
        disabled,          // gc.disable()
        threshold_0,       // gc.set_threshold(0)
        frozen,            // gc.freeze()
        guessed,           // whether its types report what holds it is not known
        legacy_finalizer,  // tp_del
        saved,             // in gc.garbage, where DEBUG_SAVEALL puts it
        in_garbage_list,   // in gc.garbage
        over_released,     // references are found that a member does not count: the collector's subtraction
                           // wraps
        invisible          // closed under references that no traverse reports
    } kind = Kind::young;
    TypeId type = no_type;          // that the collector does not look into, or that has the legacy finalizer
    TypeId finalizer = no_type;     // a type with a finalizer that would run first and could keep it
    std::uint16_t interpreter = 0;  // whose collector it is about: its place in PythonRuntime::interpreters
    bool operator==(const CycleReason&) const = default;
};

/// What the collectors of a heap tell of why: how each is set, and which objects are in its lists.
struct CycleReasons {
    FinalizerSlots finalizers;
    std::vector<GcState> collectors;          // by interpreter; at least one
    std::vector<std::int8_t> generations;     // by object; where none starts by itself, not known
    std::vector<std::uint16_t> interpreters;  // by object; empty where there is but one
};

/// It walks the collector's lists, where the age of an object says something: some 0.2 µs for each that is
/// tracked.
CycleReasons cycle_reasons(const HeapReader& heap);

/// `members`: of one cycle, or one object.
CycleReason reason_of(const HeapSnapshot& heap, const ObjectStates& states, const CycleReasons& reasons,
                      std::span<const ObjectId> members);
/// `in_garbage`: says also that they are in gc.garbage, where that is why.
std::string reason_words(const HeapSnapshot& heap, const CycleReasons& reasons, const CycleReason& reason,
                         bool in_garbage = true);

/// Of those for which `in` holds and that are garbage: why they, or most of their memory, are still there, in
/// words, without that they are in gc.garbage. Empty where there are none that the collector would look at.
std::string most_common_reason(const HeapReader& heap, const ObjectStates& states,
                               const CycleReasons& reasons, const std::function<bool(ObjectId)>& in);

}  // namespace heapsift
