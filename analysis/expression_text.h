#pragma once

// The text of an expression: its literals, its brackets, and whether the name of a reference is what somebody
// typed. Python's notation, read as loosely as people and shells write it: with other quotes, spaces, or no
// quotes at all.

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
        tuple,
        call,     // datetime.date(2024, 1, 2): `text` is what is called
        name,     // Color.RED
        list,     // [1, 2]
        set,      // {1, 2}
        dict,     // {'a': 1}: keys and values in turns
        verbatim  // <function f>
    } kind = Kind::none;
    bool negative = false;             // of an integer
    std::vector<std::uint32_t> limbs;  // its magnitude, 30 bits each, lowest first, without leading zeros
    double real = 0, imaginary = 0;
    std::string text;  // UTF-8, with lone surrogates encoded in the same way; or bytes
    std::vector<Literal> items;
    std::vector<std::string> keywords;  // of a call's items: their names; empty for those without
};

Literal text_literal(std::string_view text);

/// True if Python would treat them as the same key: 1, 1.0 and True are. A call and a name may have their module or
/// not: date(2024, 1, 2) is datetime.date(2024, 1, 2). A set has no order.
bool means_the_same(const Literal& a, const Literal& b);

/// The value of a number.
double as_double(const Literal& number);

/// All of `text` as a literal, or nothing; commas outside parentheses make a tuple. With `unquoted` a bare
/// word is a str: (1, a).
std::optional<Literal> whole_literal(std::string_view text, bool unquoted = false);

struct LiteralAtStart {
    Literal literal;
    std::size_t length = 0;  // of its text
};
std::optional<LiteralAtStart> literal_at_start(std::string_view text, bool unquoted = false);

/// The content of a bracket at the start of `text`, and the length of the whole. Brackets inside quotes do
/// not count if the quotes are closed. Nothing if the bracket is not closed.
struct Bracket {
    std::string_view content;  // without spaces at its ends
    std::size_t length = 0;
};
std::optional<Bracket> bracket_at_start(std::string_view text);

/// Length in bytes of the identifier at the start; 0 for none. Every byte beyond ASCII may be part of it.
std::size_t identifier_length(std::string_view text);

std::string_view without_blanks(std::string_view text);

/// How much of `typed` the name of a reference accounts for: as it is printed, else with keys that mean the
/// same. Nothing if it is another name. With `unquoted` a bare word is a str whose quotes a shell has
/// removed.
std::optional<std::size_t> match_name(std::string_view name, std::string_view typed, bool unquoted);

/// Why `text` cannot be an expression, for people; empty if it can.
std::string expression_problem(std::string_view text);

/// The first step of `typed`: ".attr", "['key']", "()", "key 'x'"; all of it if it does not look like a step.
std::string_view first_step(std::string_view typed);

/// Length of the address at the start of `text`, else 0: "0x…", or a digit and 7 or more hexadecimal digits,
/// if a step or nothing follows; or a pasted <… at 0x…>.
std::size_t address_length(std::string_view text);

/// The address that an expression begins with, or that is in its threadlocal(…) or generator(…); empty if
/// none.
std::string_view first_address(std::string_view text);

}  // namespace heapsift
