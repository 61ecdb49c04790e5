#pragma once

#include "analysis/retained.h"
#include "cli/answer.h"

namespace heapsift {

Answer render_retained(const RetainedResult& result, Redactor& redactor);

}  // namespace heapsift
