#pragma once

#include "analysis/dominators.h"
#include "cli/document/document.h"

namespace heapsift {

/// The joint holders of an object: "app.A and app.B".
Text joint_holders_words(const JointHolders& joint);

Document render_dominators(DominatorsResult result);

}  // namespace heapsift
