#pragma once

#include "analysis/cycles.h"
#include "cli/answer.h"

#include <functional>

namespace heapsift {

/// Hands out cycles one by one, each with everything: all at once they may be larger than the heap.
using CycleRows = std::function<void(const std::function<void(const CycleRow&)>&)>;

/// `rows`: the cycles of a document, in the order of their ids.
Answer render_cycles(const CyclesResult& result, CycleRows rows, Redactor& redactor);

/// One of the cycles of `result`.
Answer render_cycle(const CycleRow& row, const CyclesResult& result, Redactor& redactor);

}  // namespace heapsift
