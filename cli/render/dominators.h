#pragma once

#include "analysis/dominators.h"
#include "cli/document/document.h"

namespace heapsift {

/// The joint holders of an object: "app.A and app.B".
Text joint_holders_words(const JointHolders& joint);
/// "12,000 app.Job", "3 blocks of C code".
Text joint_content_words(const JointHolders& joint);

/// It refers to the graph that was asked.
Document render_dominators(DominatorsAnswer answer);

}  // namespace heapsift
