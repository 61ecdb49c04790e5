#pragma once

#include "analysis/refcounts.h"
#include "cli/document/document.h"

namespace heapsift {

Document render_refcounts(RefcountsResult result);

}  // namespace heapsift
