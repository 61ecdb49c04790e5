#pragma once

// The text of an expression: its literals, its brackets, and whether a name of a reference is what somebody
// typed. Python's own notation, read as loosely as people and shells leave it: other quotes, blanks, none at
// all.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct Literal {
    enum class Kind : std::uint8_t {
        none,
        ellipsis,
        integer,
        real,
        complex,
        text,
        bytes,
        tuple
    } kind = Kind::none;
    bool negative = false;             // of an integer
    std::vector<std::uint32_t> limbs;  // its magnitude, 30 bits each, the lowest first, without leading zeros
    double real = 0, imaginary = 0;
    std::string text;  // UTF-8, lone surrogates as they would be encoded; or bytes
    std::vector<Literal> items;
};

Literal text_literal(std::string_view text);

/// As Python compares keys: 1, 1.0 and True are the same.
bool means_the_same(const Literal& a, const Literal& b);

/// The value of a number.
double as_double(const Literal& number);

/// All of `text` as a literal; commas outside of parentheses make a tuple. Nothing where it is none. With
/// `unquoted` a bare word is a str: (1, a).
std::optional<Literal> whole_literal(std::string_view text, bool unquoted = false);

struct LiteralAtStart {
    Literal literal;
    std::size_t length = 0;  // of its text
};
std::optional<LiteralAtStart> literal_at_start(std::string_view text, bool unquoted = false);

/// What a bracket at the start of `text` holds, and the length of it all. Brackets within quotes do not
/// count, where the quotes end. Nothing where it is not closed.
struct Bracket {
    std::string_view content;  // without blanks at its ends
    std::size_t length = 0;
};
std::optional<Bracket> bracket_at_start(std::string_view text);

/// Bytes of the identifier at the start; 0 for none. Every byte beyond ASCII may be in one.
std::size_t identifier_length(std::string_view text);

std::string_view without_blanks(std::string_view text);

/// How much of `typed` the name of a reference accounts for, nothing where it is another name: as it is
/// printed, else with keys that mean the same. With `unquoted` a bare word is the str whose quotes a shell
/// has eaten.
std::optional<std::size_t> match_name(std::string_view name, std::string_view typed, bool unquoted);

/// Why `text` can be no expression, for people; empty where it can.
std::string expression_problem(std::string_view text);

/// The first step of `typed`: ".attr", "['key']", "()", "key 'x'"; all of it where it looks like none.
std::string_view first_step(std::string_view typed);

/// Length of "0x…", of 8 digits or more, or of a pasted <… at 0x…> at the start of `text`, where a step or
/// nothing follows; else 0.
std::size_t address_length(std::string_view text);

/// The address that an expression begins with, or that is in its threadlocal(…) or generator(…); empty for
/// none.
std::string_view first_address(std::string_view text);

}  // namespace heapsift
