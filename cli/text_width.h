#pragma once

// How many columns a text takes on a terminal, and how to make it take fewer.

#include <cstddef>
#include <string>
#include <string_view>

namespace heapsift {

/// Columns of escaped UTF-8 text: 0 for combining marks, 2 for East Asian wide characters and emoji, else 1.
std::size_t display_width(std::string_view text);

/// `text` in at most `width` columns, its middle replaced by "…": a type name is known by its package and by its last word.
std::string shortened_in_the_middle(std::string_view text, std::size_t width);

/// `text` and blanks up to `width` columns; more on the left for numbers.
std::string padded_right(std::string_view text, std::size_t width);
std::string padded_left(std::string_view text, std::size_t width);

}  // namespace heapsift
