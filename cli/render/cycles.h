#pragma once

#include "analysis/cycles.h"
#include "cli/answer.h"

namespace heapsift {

/// The answers refer to all that they are given. `limit`: kinds of cycles in text, cycles in a document; 0
/// all.
Answer render_cycles(const Cycles& cycles, const ObjectStates& states, std::size_t limit, Redactor& redactor);
Answer render_cycle(const Cycles& cycles, const ObjectStates& states, const Cycle& cycle,
                    const CycleDetails& details, Redactor& redactor);

}  // namespace heapsift
