#pragma once

#include "analysis/growth/growth.h"
#include "cli/document/document.h"
#include "cli/render/diff_shown.h"

namespace heapsift {

Document render_diff(GrowthResult result, const DiffShown& shown);

/// The first sentence of it: what grew, by how much, and what is new there. In the order that `growth` gives.
Text growth_headline(const GrowthResult& result);

}  // namespace heapsift
