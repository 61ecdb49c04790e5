#pragma once

// What standard output and standard error are connected to.

#include <cstddef>
#include <string>

namespace heapsift {

enum class When { automatic, always, never };  // of --color and --progress

bool is_terminal(int descriptor);

/// Columns of the terminal: as it reports them, else COLUMNS, else 80; at least 40.
std::size_t terminal_width(int descriptor);

/// Lines of the terminal; 0 if it does not report them.
std::size_t terminal_height(int descriptor);

/// Whether to use colour on `descriptor`, as --color says; "auto" means a terminal that is not "dumb", and
/// NO_COLOR unset or empty.
bool use_colour(When when, int descriptor);

/// `text` between the escape sequences for bold or faint; unchanged without `colour`.
std::string bold(const std::string& text, bool colour);
std::string faint(const std::string& text, bool colour);

}  // namespace heapsift
