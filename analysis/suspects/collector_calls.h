#pragma once

// Where the program changes what the garbage collector does.

#include "analysis/cycle_reasons.h"
#include "analysis/gc.h"
#include "analysis/suspects/code_that_names.h"
#include "parsers/cpython/gc_state.h"

#include <string>
#include <vector>

namespace heapsift {

/// The function of module gc that leads to such a reason: "disable"; "" if none does.
std::string call_behind(CycleReason::Kind kind);

/// A function of module gc, and who calls it.
struct CollectorCall {
    std::string name;  // "gc.set_threshold()"
    CodePlaces in;     // never empty
};

/// For what of a collector's state the program must have set, the functions of its own that do: `disable` where it is
/// disabled, `set_debug` where a flag is set, `freeze` where objects are frozen, and `set_threshold` where the
/// thresholds are not those that Python starts with. Cost: the names of each code object.
std::vector<CollectorCall> collector_calls(const CodeThatNames& code, const std::vector<GcState>& states);
std::vector<CollectorCall> collector_calls(const CodeThatNames& code, const GcResult& collectors);

}  // namespace heapsift
