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
        std::uint32_t example = 0;  // CycleKind::example
        std::vector<TiedIn> in;     // never empty
    };
    std::vector<Ties> kinds;           // of the kinds that have a path
    std::vector<CollectorCall> calls;  // that change what the collector does
};

/// Of the first kinds of `result`: as many as a person reads.
CycleCode cycle_code(Work& work, const CyclesResult& result);
/// Of one cycle: at most one of `kinds`, whose example it is.
CycleCode cycle_code(Work& work, const CycleRow& row);

}  // namespace heapsift
