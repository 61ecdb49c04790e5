#pragma once

// One object in full.

#include "analysis/show.h"
#include "cli/render/edges.h"

namespace heapsift {

Document render_show(ShowResult result, AllEdges all_referents = {}, AllEdges all_referrers = {});

}  // namespace heapsift
