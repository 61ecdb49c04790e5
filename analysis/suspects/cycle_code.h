#pragma once

// Where the program ties its cycles, and what it told the collector.

#include "analysis/cycles.h"
#include "analysis/suspects/collector_calls.h"
#include "analysis/suspects/tied_in.h"

#include <cstdint>
#include <vector>

namespace heapsift {

struct CycleCode {
    struct Ties {
        std::vector<std::uint32_t> examples;  // CycleKind::example of each kind of which the same is known
        std::vector<TiedIn> in;               // never empty
    };
    std::vector<Ties> kinds;           // of kinds of which something is known
    std::vector<CollectorCall> calls;  // that change what the collector does
};

/// Of the first kinds of `result`: as many as a person reads.
CycleCode cycle_code(Work& work, const CyclesResult& result);
/// Of one cycle: at most one of `kinds`, whose example it is.
CycleCode cycle_code(Work& work, const CycleRow& row);

}  // namespace heapsift
