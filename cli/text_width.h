#pragma once

// How many columns a text takes on a terminal, and ways to make it take fewer.

#include <cstddef>
#include <string>
#include <string_view>

namespace heapsift {

/// Columns of escaped UTF-8 text: 0 for combining marks, 2 for East Asian wide characters and emoji, else 1.
std::size_t display_width(std::string_view text);

/// `text` in at most `width` columns, the middle replaced by "…": a type's name is recognised by its package
/// and its last word.
std::string shortened_in_the_middle(std::string_view text, std::size_t width);

/// `text` in at most `width` columns, the end replaced by "…".
std::string shortened_at_the_end(std::string_view text, std::size_t width);

/// `text` wrapped at blanks into lines of at most `width` columns (a longer word overflows). The first line
/// begins at column `first`, the others with `indent` blanks. Blanks within a line stay. `width` 0: one line.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent, std::size_t first = 0);

/// `text`, wrapped, followed by `tail` on the last line or on a line of its own. `tail` is never wrapped,
/// since it is to be copied.
std::string wrapped_with_tail(std::string_view text, std::string_view tail, std::size_t width,
                              std::size_t indent, std::size_t first = 0);

/// `text` padded with blanks to `width` columns; numbers are padded on the left.
std::string padded_right(std::string_view text, std::size_t width);
std::string padded_left(std::string_view text, std::size_t width);

}  // namespace heapsift
