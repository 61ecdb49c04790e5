#pragma once

#include "analysis/why.h"
#include "cli/answer.h"

namespace heapsift {

/// `limit`: so many lines of a path in text; 0 all.
Answer render_why(const WhyResult& result, std::size_t limit, Redactor& redactor);

}  // namespace heapsift
