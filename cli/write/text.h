#pragma once

// A document as text on a page.

#include "cli/document/document.h"
#include "cli/page.h"

#include <functional>
#include <string>
#include <string_view>

namespace heapsift {

/// The blocks, in lines that end. On a terminal of known height, blocks give way until the first screen fits.
std::string written(const Document& document, const Page& page);
/// The same, in parts: a table may have millions of rows.
void write_text(const Document& document, const Page& page,
                const std::function<void(std::string_view)>& write);

}  // namespace heapsift
