#pragma once

// The garbage collector's own state, one for each interpreter: is it on, when does it start, what did it put
// aside. Source: pycore_gc.h (struct _gc_runtime_state) and gcmodule.c, gc.c of 3.9 to 3.13.

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
    // a collection of this generation begins when `count` is above it; 0, of the youngest: never
    std::int32_t threshold = 0;
    // youngest: objects made since, less those that died; older: collections of the one before
    std::int32_t count = 0;
    std::uint64_t objects = 0;  // in its list
    bool whole = true;          // false where the list breaks off: at least `objects`
};

struct GcState {
    std::int64_t interpreter = 0;
    bool enabled = true;
    bool collecting = false;  // at the moment of the dump
    std::uint32_t debug = 0;
    std::array<GcGeneration, 3> generations;
    GcGeneration frozen;           // by gc.freeze(); only its objects count
    Address garbage, callbacks;    // the lists gc.garbage and gc.callbacks; null where there is none
    std::int64_t long_lived = -1;  // objects that survived the last full collection; -1 unknown
    // that came to them since: a full collection waits until these are a quarter of those
    std::int64_t long_lived_new = 0;

    /// A full collection begins only where enough is new: gcmodule.c, gc_collect_generations.
    bool enough_is_new() const { return long_lived < 0 || long_lived_new >= long_lived / 4; }
};

/// "STATS", "COLLECTABLE", "UNCOLLECTABLE", "SAVEALL"; other bits as "0x40".
std::vector<std::string> gc_debug_flags(std::uint32_t debug);

/// Of one interpreter; nothing where it does not read. Without `count_objects` the lists are not walked, and
/// `objects` are 0; with it the cost is some 50 to 100 ns an object. `most`: no list has more objects.
std::optional<GcState> gc_state(const AddressSpace& memory, const PythonRuntime& python,
                                const PythonInterpreter& interpreter, std::uint64_t most,
                                bool count_objects = true);

}  // namespace heapsift
