#pragma once

// A document as text on a page.

#include "cli/document/document.h"
#include "cli/page.h"

#include <string>

namespace heapsift {

/// The blocks, in lines that end. On a terminal of known height, blocks give way until the first screen fits.
std::string written(const Document& document, const Page& page);

}  // namespace heapsift
