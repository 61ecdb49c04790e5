#pragma once

// Text from a core, and words that a person mistyped.
//
// A core is untrusted input: a class may have a name whose bytes clear the screen or reverse the reading
// direction. So all such text goes through `escape_for_terminal` before it is shown. That keeps what a person
// can read, in any script, and spells out the rest.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct DecodedCharacter {
    char32_t value = 0;     // the code point, or the byte itself if no valid sequence begins there
    std::size_t bytes = 1;  // how many bytes it took
    bool valid = true;
};

/// The first character of `text`, which must not be empty. Overlong forms, surrogates and values above
/// U+10FFFF are invalid.
DecodedCharacter decode_utf8(std::string_view text);

/// `text` with everything spelled out that a terminal would act upon or a reader could not see: control
/// characters and bytes that are not UTF-8 as \xNN, direction marks and other invisible characters as \uNNNN,
/// line ends and tabs as \n, \r, \t. Idempotent: backslashes are not escaped.
std::string escape_for_terminal(std::string_view text);

/// What follows the last slash, ignoring slashes at the end.
std::string_view base_name(std::string_view path);

/// Whether `text` is a Python identifier. Characters outside ASCII are taken for letters.
bool is_identifier(std::string_view text);

/// `word` quoted for the shell where it needs it: 'func().selected[37]', "app.CACHE['k']". For commands in
/// hints. A word that `escape_for_terminal` would change becomes printable ASCII that the shell turns back
/// into the same bytes: $'a\033[31mb'.
std::string shell_quoted(std::string_view word);

/// The system's text for an errno, in the form of our messages: "no space left on device".
std::string system_reason(int error_number);

/// The least number of letters to insert, delete, replace or swap with a neighbour to turn one word into the
/// other.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The `candidates` that `word` may have been meant to be, nearest first (ties: the earlier one), at most
/// `limit`. Empty if none is near: if more than a third of the letters would have to change.
std::vector<std::string> nearest_words(std::string_view word, std::span<const std::string> candidates,
                                       std::size_t limit = 1);

}  // namespace heapsift
