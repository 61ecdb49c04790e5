#pragma once

#include "analysis/cycles.h"
#include "analysis/suspects/cycle_code.h"
#include "cli/document/document.h"

#include <functional>
#include <memory>

namespace heapsift {

/// Hands out cycles one by one, each complete: together they may be larger than the heap.
using CycleRows = std::function<void(const std::function<void(const CycleRow&)>&)>;

/// `rows`: the cycles of a document, in the order of their ids. The document keeps them, and they own what
/// they read from.
Document render_cycles(const std::shared_ptr<const CyclesResult>& result, CycleRows rows,
                       const CycleCode& code = {});

/// One of the cycles of `result`.
Document render_cycle(CycleRow row, const CyclesResult& result, const CycleCode& code = {});

}  // namespace heapsift
