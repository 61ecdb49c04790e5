#pragma once

// Text that came out of a core, and words that a person mistyped.
//
// A core is input from elsewhere: a class may be named with the bytes that clear a screen or turn the reading
// direction around. So every such text passes `escape_for_terminal` before it is shown. It keeps what a
// person can read in any script, and spells out the rest.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct DecodedCharacter {
    char32_t value = 0;     // the code point, or the byte itself where it begins no valid sequence
    std::size_t bytes = 1;  // how many bytes it took
    bool valid = true;
};

/// The first character of `text`, which is not empty. Overlong forms, surrogates and values past U+10FFFF are
/// not valid.
DecodedCharacter decode_utf8(std::string_view text);

/// `text` with everything that a terminal would act upon, or a reader could not see, spelled out: control
/// characters, bytes that are no UTF-8 as \xNN, marks of reading direction and other invisible ones as
/// \uNNNN, line ends and tabs as \n, \r, \t. Idempotent: a backslash stays as it is.
std::string escape_for_terminal(std::string_view text);

/// What follows the last slash, but for slashes at the end.
std::string_view base_name(std::string_view path);

/// A name in Python, as far as ASCII tells: other characters are taken for letters.
bool is_identifier(std::string_view text);

/// The shell's quoting of a word, where it needs any: 'func().selected[37]', "app.CACHE['k']". For commands
/// that a hint shows. A word that `escape_for_terminal` would change becomes printable ASCII, which the shell
/// turns into the same bytes: $'a\033[31mb'.
std::string shell_quoted(std::string_view word);

/// What the system says of an errno, in the form of our messages: "no space left on device".
std::string system_reason(int error_number);

/// The least number of letters to insert, delete, replace or swap with a neighbour that turns one into the
/// other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Those of `candidates` that `word` may have been meant to be, nearest first, at most `limit`; of equals the
/// earlier one first. Empty where none is near: more than a third of the letters would have to change.
std::vector<std::string> nearest_words(std::string_view word, std::span<const std::string> candidates,
                                       std::size_t limit = 1);

}  // namespace heapsift
