#pragma once

// Why a cycle is still there, in plain words.

#include "analysis/object_states.h"
#include "parsers/cpython/gc_state.h"

#include <cstdint>
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
        invisible          // closed under references that no traverse reports
    } kind = Kind::young;
    TypeId type = no_type;       // that the collector does not look into, or that has the legacy finalizer
    TypeId finalizer = no_type;  // a type with a finalizer that would run first and could keep it
    bool operator==(const CycleReason&) const = default;
};

class CycleReasons {
public:
    explicit CycleReasons(const ObjectStates& states);

    CycleReason of(std::span<const ObjectId> members) const;
    std::string words(const CycleReason& reason) const;

private:
    CycleReason::Kind waiting_kind(std::span<const ObjectId> members) const;
    TypeId blind_type(std::span<const ObjectId> members) const;

    const ObjectStates& states_;
    const HeapSnapshot& heap_;
    FinalizerSlots finalizers_;
    GcState collector_;                     // of the main interpreter
    std::vector<std::int8_t> generations_;  // by object
};

}  // namespace heapsift
