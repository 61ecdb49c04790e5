#pragma once

#include "analysis/refcounts.h"
#include "cli/document/document.h"

namespace heapsift {

/// `of_type`: of a type that was asked for; then tables follow even if no reference leaked.
Document render_refcounts(RefcountsResult result, bool of_type = false);

}  // namespace heapsift
