#pragma once

#include "analysis/why.h"
#include "cli/document/document.h"

namespace heapsift {

Document render_why(const WhyResult& result);

}  // namespace heapsift
