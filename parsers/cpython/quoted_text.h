#pragma once

// How Python writes a str between quotes.

#include <string>
#include <string_view>

namespace heapsift {

/// The repr of UTF-8 text, in which lone surrogates may be encoded as if they were characters; with an ellipsis
/// before the closing quote where it was cut. The quotes never occur inside: as in Python, the other kind is
/// used.
std::string quoted_text(std::string_view utf8, bool cut, std::string_view prefix);

}  // namespace heapsift
