#pragma once

// What is to be seen of a browser: lines of styled pieces, for a terminal of some width and height. Nothing is written.

#include "cli/browse/browser.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// How a piece looks; what a terminal without colour makes of it is the terminal's business.
enum class Look : std::uint8_t { plain, bold, faint, bar, title, tab, cursor, marked, key, message };

struct ScreenPiece {
    std::string text;  // escaped; no line ends
    Look look = Look::plain;
};

struct ScreenLine {
    std::vector<ScreenPiece> pieces;
    bool filled = false;  // the look of the last piece goes on to the edge
};

/// Exactly `height` lines of at most `width` columns. `identity`: whose core this is, for the first line. Tells the
/// browser where its rows are.
std::vector<ScreenLine> drawn(Browser& browser, const std::string& identity, std::size_t width,
                              std::size_t height);

/// The text of a line, without looks: for tests.
std::string text_of(const ScreenLine& line);

/// The keys, as the help screen lists them: a line each.
const std::vector<std::pair<std::string, std::string>>& browse_keys();

}  // namespace heapsift
