#pragma once

// Text for people, before it is known how it will be written.
//
// A sentence or a cell is a row of spans, and a span says what it is: a number of bytes, a count, the name of
// a type, an address, a value that the program stored. So a writer decides on units, escaping, redaction and
// style, and another writer can make a link of an address. A text does not refer to the result it was made
// from, and nothing in it is escaped.

#include "parsers/base/address.h"
#include "parsers/cpython/step.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace heapsift {

struct Wording {
    std::string text = {};  // heapsift's own words, or a name from the core
};
struct TypeName {
    std::string name = {};
};
struct Count {
    std::uint64_t number = 0;
};
struct SignedCount {
    std::int64_t number = 0;
};
struct ByteCount {
    std::uint64_t bytes = 0;
};
/// What grew or shrank: "+203 KiB", "−32", "0".
struct Growth {
    std::int64_t number = 0;
    bool is_bytes = false;
};
/// A share in percent.
struct Share {
    std::uint64_t part = 0, whole = 0;
    bool in_column = false;  // with the same decimals as the rest of the column
};
/// A share as a bar.
struct Bar {
    std::uint64_t part = 0, whole = 0;
    std::uint8_t colour = 0;  // in a page: a number that belongs to the kind of thing; 0: that of all bars
};
/// The sign before a number that a cut core makes uncertain; printed only if the core is cut.
struct Bound {
    enum class Kind { at_least, about } kind = Kind::at_least;
};
/// A value that the program stored.
struct Value {
    ShortValue value = {};
    std::string type = {};     // its type; empty: inferred from the literal
    bool with_type = false;    // the type is printed before it, unless the value begins with it
    std::uint16_t widest = 0;  // of the value without its type, in columns; 0: any
    bool empty() const { return value.kind == ShortValue::Kind::none; }
};
/// The name of a reference.
struct Notation {
    ReferenceStep step = {};
    bool without_dot = false;
};
/// A path in Python's notation: "app.CACHE['k'][3]".
struct Expression {
    std::string root = {};
    std::vector<ReferenceStep> steps = {};
    bool empty() const { return root.empty() && steps.empty(); }
};
/// A command of this program, to be typed as printed: "types -n 0". The writer adds the core's name if it is
/// needed.
struct CommandLine {
    std::string words = {};
};
/// What to type for an object, quoted for a shell: its expression; its address if it has no expression, or if
/// that may not be shown.
struct Target {
    Expression expression = {};
    Address address = {};
};
/// The path of a file.
struct FilePath {
    std::string path = {};
};
/// A sentence that may contain paths.
struct Message {
    std::string text = {};
};
/// The command line of a process; its name if that is unknown.
struct ProcessCall {
    std::string name = {}, arguments = {};
};
/// A name that the program chose.
struct GivenName {
    std::string name = {};
    bool as_key = false;  // numbered under --redact like the key of the same text
};
/// Text that quotes values, and what replaces it under --redact.
struct Withheld {
    std::string text = {}, instead = {};
};
/// Words that differ for a cut core.
struct OfCore {
    std::string cut = {}, whole = {};
};
/// A long hexadecimal number; readers get its first digits.
struct Digest {
    std::string digits = {};
};
/// The place of a number that is not there.
struct Nothing {};

/// A piece of text.
struct Span {
    using Content = std::variant<Wording, TypeName, Count, SignedCount, ByteCount, Growth, Share, Bar, Bound,
                                 Address, Value, Notation, Expression, CommandLine, Target, FilePath, Message,
                                 ProcessCall, GivenName, Withheld, OfCore, Digest, Nothing>;
    Content content;
    enum class Style : std::uint8_t { plain, bold, faint } style = Style::plain;
    std::uint16_t widest = 0;  // in columns, whatever the page; 0: any
    bool gives_way = false;    // shortened if the line is too long for the page
    bool quoted = false;       // for a shell
};

/// Spans, one after the other.
class Text {
public:
    Text() = default;
    // NOLINTBEGIN(google-explicit-constructor): code writes a text as what it is made of
    Text(const char* words) : Text(std::string(words)) {}
    Text(std::string words);
    Text(Span span) { spans_.push_back(std::move(span)); }
    template <class Content>
    requires std::is_constructible_v<Span::Content, Content&&> &&
        (!std::is_convertible_v<Content, std::string>)&&(!std::is_same_v<std::decay_t<Content>, Text>)&&(
            !std::is_same_v<std::decay_t<Content>, Span>)Text(Content&& content) {
        spans_.push_back({Span::Content(std::forward<Content>(content))});
    }
    // NOLINTEND(google-explicit-constructor)

    Text& operator+=(Text more);
    friend Text operator+(Text first, Text more) { return std::move(first += std::move(more)); }

    bool empty() const { return spans_.empty(); }
    const std::vector<Span>& spans() const { return spans_; }

    /// Each returns the same text, changed:
    Text bold() &&;
    Text faint() &&;
    Text at_most(std::uint16_t columns) &&;
    Text giving_way() &&;
    Text quoted() &&;  // as one word for a shell

private:
    std::vector<Span> spans_ = {};
};

/// `format` with each "{}" replaced by the next of `parts`.
Text put_together(std::string_view format, std::initializer_list<Text> parts);
template <class... Parts>
Text says(std::string_view format, Parts&&... parts) {
    return put_together(format, {Text(std::forward<Parts>(parts))...});
}

/// "1 object", "2 objects", "1,234 objects". The plural is the singular with an s unless given.
Text how_many(std::uint64_t count, std::string_view singular, std::string_view plural = {});

/// All of `texts`, with `between` between neighbours.
Text joined(std::vector<Text> texts, std::string_view between);

/// "≥ " if the core is cut: before a count or sum that a whole core would make larger.
inline Text at_least() { return Bound{Bound::Kind::at_least}; }
/// "≈ " if the core is cut: before a number that a whole core could make larger or smaller.
inline Text about() { return Bound{Bound::Kind::about}; }

}  // namespace heapsift
