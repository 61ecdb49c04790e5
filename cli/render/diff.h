#pragma once

#include "analysis/growth/growth.h"
#include "cli/document/document.h"
#include "cli/render/diff_shown.h"

namespace heapsift {

Document render_diff(GrowthResult result, const DiffShown& shown);

}  // namespace heapsift
