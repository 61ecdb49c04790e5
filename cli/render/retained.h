#pragma once

#include "analysis/retained.h"
#include "cli/document/document.h"

namespace heapsift {

Document render_retained(RetainedResult result);

}  // namespace heapsift
