#pragma once

// How many columns a text takes on a terminal, and how to make it take fewer.

#include <cstddef>
#include <string>
#include <string_view>

namespace heapsift {

/// Columns of escaped UTF-8 text: 0 for combining marks, 2 for East Asian wide characters and emoji, else 1.
std::size_t display_width(std::string_view text);

/// `text` in at most `width` columns, its middle replaced by "…": a type name is known by its package and by
/// its last word.
std::string shortened_in_the_middle(std::string_view text, std::size_t width);

/// `text` in at most `width` columns, its end replaced by "…".
std::string shortened_at_the_end(std::string_view text, std::size_t width);

/// `text` broken at blanks into lines of at most `width` columns (a longer word overflows), the first of
/// which begins at column `first` and the others with `indent` blanks. Blanks within a line stay. `width` 0:
/// one line, whatever its length.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t first = 0);

/// `text`, wrapped, and `tail`, which is not broken, since it is to be copied: on the last line, or on one of
/// its own.
std::string wrapped_with_tail(std::string_view text, std::string_view tail, std::size_t width,
                              std::size_t indent, std::size_t first = 0);

/// `text` and blanks up to `width` columns; more on the left for numbers.
std::string padded_right(std::string_view text, std::size_t width);
std::string padded_left(std::string_view text, std::size_t width);

}  // namespace heapsift
