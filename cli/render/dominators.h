#pragma once

#include "analysis/dominators.h"
#include "cli/document/document.h"

namespace heapsift {

/// The words that name what holds something jointly: "app.A and app.B".
Text joint_holders_words(const JointHolders& joint);

Document render_dominators(DominatorsResult result);

}  // namespace heapsift
