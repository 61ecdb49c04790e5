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

class CycleReasons {
public:
    explicit CycleReasons(const ObjectStates& states);

    CycleReason of(std::span<const ObjectId> members) const;
    /// Of those for which `in` holds and that are garbage: why they, or most of their memory, are still
    /// there, in words, without that they are in gc.garbage. Empty where there are none that the collector would look
    /// at.
    std::string most_common(const std::function<bool(ObjectId)>& in) const;
    /// `in_garbage`: says also that they are in gc.garbage, where that is why.
    std::string words(const CycleReason& reason, bool in_garbage = true) const;

private:
    void explain_waiting(std::span<const ObjectId> members, CycleReason& reason) const;
    const GcState* collector_of(ObjectId object, CycleReason& reason) const;
    TypeId blind_type(std::span<const ObjectId> members) const;

    const ObjectStates& states_;
    const HeapReader& heap_;
    FinalizerSlots finalizers_;
    std::vector<GcState> collectors_;          // by interpreter; at least one
    std::vector<std::int8_t> generations_;     // by object; where none starts by itself, not known
    std::vector<std::uint16_t> interpreters_;  // by object; empty where there is but one
};

}  // namespace heapsift
