#pragma once

// Why a cycle has not been freed, in plain words.

#include "analysis/kept_answers.h"
#include "analysis/object_states.h"
#include "parsers/cpython/gc_state.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

struct CycleReason {
    enum class Kind : std::uint8_t {
        in_use,  // a root reaches it
        held,    // only references that were not found hold it
        young,   // the next collection of its generation would find it
        middle,
        old,
        hanging,           // not tracked, and held by garbage that has not been collected
        collecting,        // a collection was running
        disabled,          // gc.disable()
        threshold_0,       // gc.set_threshold(0)
        frozen,            // gc.freeze()
        guessed,           // it is not known whether its types report what holds it
        legacy_finalizer,  // a type has tp_del
        saved,             // in gc.garbage, because of DEBUG_SAVEALL
        in_garbage_list,   // in gc.garbage
        // more references to a member are found than it counts: the collector's subtraction wraps
        over_released,
        invisible  // closed under references that no traverse reports
    } kind = Kind::young;
    // the one that the collector does not look into, or that has the legacy finalizer
    TypeId type = no_type;
    TypeId finalizer = no_type;     // a type whose finalizer would run first and may keep it alive
    std::uint16_t interpreter = 0;  // whose collector is meant: index in PythonRuntime::interpreters
    bool operator==(const CycleReason&) const = default;
};

/// What the collectors of a heap say about the reasons: how each is set, and which objects are in its lists.
struct CycleReasons {
    FinalizerSlots finalizers;
    std::vector<GcState> collectors;          // by interpreter; at least one
    std::vector<std::int8_t> generations;     // by object; not known if no collection starts by itself
    std::vector<std::uint16_t> interpreters;  // by object; empty if there is only one interpreter
};

/// Walks the collector's lists if the age of an object can be a reason: some 0.2 µs per tracked object.
CycleReasons cycle_reasons(const HeapReader& heap);
/// Only what `reason_words` needs.
CycleReasons collectors_for_words(const HeapReader& heap);

/// `members`: those of one cycle, or a single object.
CycleReason reason_of(const HeapSnapshot& heap, const ObjectStates& states, const CycleReasons& reasons,
                      std::span<const ObjectId> members);
/// `in_garbage`: also says that they are in gc.garbage, if that is the reason.
std::string reason_words(const HeapSnapshot& heap, const CycleReasons& reasons, const CycleReason& reason,
                         bool in_garbage = true);

/// Why the garbage for which `in` is true, or most of its memory, has not been freed, in words; does not
/// mention gc.garbage. Empty if none of it is an object that the collector would look at.
std::string most_common_reason(const HeapReader& heap, const ObjectStates& states,
                               const CycleReasons& reasons, const std::function<bool(ObjectId)>& in);
/// The same before it is put into words, `reason_words(…, false)`; nothing for an empty text.
std::optional<CycleReason> find_most_common_reason(const HeapReader& heap, const ObjectStates& states,
                                                   const CycleReasons& reasons,
                                                   const std::function<bool(ObjectId)>& in);

/// To be kept (analysis/kept_answers.h).
template <class Reason, class Part>
void reason_fields(Reason& reason, Part& part, const HeapReader& heap) {
    part.number(reason.kind);
    part.require(reason.kind <= CycleReason::Kind::invisible, "a reason is not known");
    kept_type(reason.type, part, heap);
    kept_type(reason.finalizer, part, heap);
    part.number(reason.interpreter);
    part.require(reason.interpreter == 0 || reason.interpreter < heap.snapshot().python.interpreters.size(),
                 "there are other interpreters now");
}

}  // namespace heapsift
