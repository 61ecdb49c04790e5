#pragma once

// One object in full.

#include "analysis/show.h"
#include "cli/document/document.h"

namespace heapsift {

Document render_show(ShowResult result);

}  // namespace heapsift
