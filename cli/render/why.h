#pragma once

#include "analysis/why.h"
#include "cli/answer.h"

namespace heapsift {

Answer render_why(const WhyResult& result, Redactor& redactor);

}  // namespace heapsift
