#pragma once

// A document as text on a page.

#include "cli/document/document.h"
#include "cli/page.h"

#include <string>

namespace heapsift {

/// The blocks, in lines that end. On a terminal of some height, blocks give way as far as the first screen asks.
std::string written(const Document& document, const Page& page);

}  // namespace heapsift
