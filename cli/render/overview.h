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

/// Parts of it, for a page with more room than a screen: whose core it is; its sentence; where the memory is.
Block overview_masthead(const OverviewResult& result, const OverviewCore& core);
Text overview_sentence(const OverviewResult& result, const SuspectsResult& suspects);
Block overview_memory(const OverviewResult& result);

/// The sentence above the tables.
Text headline_words(const OverviewResult& result);

}  // namespace heapsift
