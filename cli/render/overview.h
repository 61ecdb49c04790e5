#pragma once

// The first screen.

#include "analysis/overview.h"
#include "analysis/overview_core.h"
#include "analysis/suspects/suspects.h"
#include "cli/document/document.h"

namespace heapsift {

/// Without suspects, it lists what holds most.
Document render_overview(OverviewResult result, const OverviewCore& core,
                         const SuspectsResult& suspects = {});

/// The sentence above the tables.
Text headline_words(const OverviewResult& result);

}  // namespace heapsift
