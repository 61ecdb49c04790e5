#pragma once

// What stands at the other end of standard output and standard error.

#include <cstddef>
#include <string>

namespace heapsift {

enum class When { automatic, always, never };  // of --color and --progress

bool is_terminal(int descriptor);

/// Columns of the terminal: what the terminal itself says, else COLUMNS, else 80; at least 40.
std::size_t terminal_width(int descriptor);

/// Lines of the terminal; 0 where it does not say.
std::size_t terminal_height(int descriptor);

/// Colour on `descriptor`: --color decides; "auto" is a terminal that is not "dumb", and NO_COLOR unset or
/// empty.
bool use_colour(When when, int descriptor);

/// `text` between the escape sequences for bold or faint, or as it is.
std::string bold(const std::string& text, bool colour);
std::string faint(const std::string& text, bool colour);

}  // namespace heapsift
