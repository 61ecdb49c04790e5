#pragma once

// Memory that could be saved: one row for each sort of waste, type and holder.

#include "analysis/waste.h"
#include "cli/document/document.h"

namespace heapsift {

Document render_waste(WasteResult result);

}  // namespace heapsift
