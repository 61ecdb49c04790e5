#pragma once

// heapsift __complete: what the shells ask when Tab is pressed. Not a command for people.

#include <string>
#include <vector>

namespace heapsift {

/// The answer to `heapsift __complete SHELL ...`, as lines:
///
///     bash BREAKS LINE    LINE up to the cursor. First "nospace" or "space": what follows the word; then words
///                         as they are to stand in the line
///     zsh WORD...         the words after the program's name, the last one being completed. Each line is + if
///                         more of the word follows, else a blank; then value, tab, remark
///     fish WORD...        the same without the first character
///
/// Empty if it knows nothing to offer, whatever is asked; throws nothing. It reads no core beyond the first
/// bytes, writes nothing, and takes some ms: 50 at most, where it looks at many files.
std::string complete(const std::vector<std::string>& arguments);

}  // namespace heapsift
