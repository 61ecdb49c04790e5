#pragma once

// Text in the notation of man pages.

#include <string>
#include <string_view>

namespace heapsift {

/// `text` such that roff prints it as it is, wherever it stands in a line: no macro, no escape, and ASCII
/// alone. In `literal` text, which is to be copied, a hyphen is a minus and quotes are straight.
std::string roff(std::string_view text, bool literal = false);

/// Bold, or italic; literal.
std::string roff_bold(std::string_view text);
std::string roff_italic(std::string_view text);

/// Prose, as input lines: each sentence begins one, and none has more than 79 bytes unless a word has.
/// Paragraphs are divided by an empty line, and come apart by .PP.
std::string roff_prose(std::string_view text);

/// Help as it is laid out for a terminal: what stands at the margin becomes prose; an indented list of words,
/// each with its meaning beside it, becomes a list; and any other indented lines stay as they are.
std::string roff_layout(std::string_view text);

}  // namespace heapsift
