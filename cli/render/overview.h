#pragma once

// The first screen.

#include "analysis/overview.h"
#include "analysis/overview_core.h"
#include "cli/document/document.h"

namespace heapsift {

Document render_overview(OverviewResult result, const OverviewCore& core);

/// The sentence above the tables.
Text headline_words(const OverviewResult& result);

}  // namespace heapsift
