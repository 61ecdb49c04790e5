#pragma once

#include "analysis/dominators.h"
#include "cli/answer.h"

namespace heapsift {

Answer render_dominators(const DominatorsResult& result, Redactor& redactor);

}  // namespace heapsift
