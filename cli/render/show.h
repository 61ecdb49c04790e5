#pragma once

// One object in full, in text and JSON.

#include "analysis/show.h"
#include "cli/answer.h"

namespace heapsift {

/// The answer refers to `result`.
Answer render_show(const ShowResult& result, Redactor& redactor);

}  // namespace heapsift
