#pragma once

#include "analysis/refcounts.h"
#include "cli/answer.h"

namespace heapsift {

Answer render_refcounts(const RefcountsResult& result, Redactor& redactor);

}  // namespace heapsift
