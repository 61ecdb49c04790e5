#pragma once

// The garbage collector's state in each interpreter: whether it is on, when it starts, what it put aside.
// Source: pycore_gc.h (struct _gc_runtime_state) and gcmodule.c, gc.c of 3.6 to 3.13.

#include "parsers/cpython/build/collector.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

// gc.DEBUG_…
inline constexpr std::uint32_t gc_debug_stats = 1, gc_debug_collectable = 2, gc_debug_uncollectable = 4,
                               gc_debug_saveall = 32;

struct GcGeneration {
    // a collection of this generation begins when `count` exceeds it; 0 in the youngest: never
    std::int32_t threshold = 0;
    // youngest: objects made since, minus those that died; older: collections of the generation before
    std::int32_t count = 0;
    std::uint64_t objects = 0;  // in its list
    bool whole = true;          // false if the list breaks off: at least `objects`
};

struct GcState {
    std::int64_t interpreter = 0;
    bool enabled = true;
    bool collecting = false;  // at the moment of the dump
    std::uint32_t debug = 0;
    std::array<GcGeneration, 3> generations;
    GcGeneration frozen;           // by gc.freeze(); only its objects count
    Address garbage, callbacks;    // the lists gc.garbage and gc.callbacks; null if there is none
    std::int64_t long_lived = -1;  // objects that survived the last full collection; -1 unknown
    // added since then: a full collection waits until this is a quarter of `long_lived`
    std::int64_t long_lived_new = 0;

    /// A full collection only begins if enough is new (gcmodule.c, gc_collect_generations).
    bool enough_is_new() const { return long_lived < 0 || long_lived_new >= long_lived / 4; }
};

/// "STATS", "COLLECTABLE", "UNCOLLECTABLE", "SAVEALL"; other bits as "0x40".
std::vector<std::string> gc_debug_flags(std::uint32_t debug);

/// The state of one interpreter; nothing if it cannot be read. Without `count_objects` the lists are not
/// walked, and `objects` are 0; walking them costs 50 to 100 ns an object. `most`: no list has more objects
/// than this.
std::optional<GcState> gc_state(const AddressSpace& memory, const PythonRuntime& python,
                                const PythonInterpreter& interpreter, std::uint64_t most,
                                bool count_objects = true);

}  // namespace heapsift
