#pragma once

// A document as text on a page.

#include "cli/document/document.h"
#include "cli/page.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace heapsift {

/// The blocks, in lines that end. On a terminal of known height, blocks give way until the first screen fits.
std::string written(const Document& document, const Page& page);
/// The same, in parts: a table may have millions of rows.
void write_text(const Document& document, const Page& page,
                const std::function<void(std::string_view)>& write);

/// Below a table that is cut: "… 3 more types; these 20 are 95 % of the memory." `rest.rows` is more than `shown_rows`.
std::string rest_words(const TableRest& rest, std::size_t shown_rows, std::uint64_t shown_bytes);

}  // namespace heapsift
