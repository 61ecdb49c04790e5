#pragma once

// Wording for people, before it is known how they will be written.
//
// A sentence or a cell is a row of spans, and a span says what it is: a number of bytes, a count, a type's name, an
// address, a value that the program stored. So a writer decides about units, escaping, redaction and style, and another
// writer can make a link of an address. Nothing in it refers to the result that it was made of, and none of it is
// escaped.

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
    std::string text = {};  // this program's, or a name from the core
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
/// A share in percent.
struct Share {
    std::uint64_t part = 0, whole = 0;
    bool in_column = false;  // with as many decimals as those above and below it
};
/// A share as a bar.
struct Bar {
    std::uint64_t part = 0, whole = 0;
};
/// What stands before a number that a cut core makes less than sure; nothing where the core is whole.
struct Bound {
    enum class Kind { at_least, about } kind = Kind::at_least;
};
/// A value that the program stored, of a type.
struct Value {
    ShortValue value = {};
    std::string type = {};     // empty: told from the literal
    bool with_type = false;    // the type before it, unless the value begins with that
    std::uint16_t widest = 0;  // the value alone, in columns; 0: any
    bool empty() const { return value.kind == ShortValue::Kind::none; }
};
/// How a reference is called.
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
/// A command of this program, to be typed as it stands: "types -n 0". What names the core is added where it must be.
struct CommandLine {
    std::string words = {};
};
/// What to type for an object, quoted for a shell: its expression, or its address where it has none, or where the
/// expression may not be shown.
struct Target {
    Expression expression = {};
    Address address = {};
};
/// The path of a file.
struct FilePath {
    std::string path = {};
};
/// A sentence in which paths may stand.
struct Message {
    std::string text = {};
};
/// What a process was called with; its name where that is not known.
struct ProcessCall {
    std::string name = {}, arguments = {};
};
/// A name that the program gave, shown as it is, or as a value.
struct GivenName {
    std::string name = {};
    bool as_key = false;  // the same value as the key of that text
};
/// What values say, and what stands in its place under --redact.
struct Withheld {
    std::string text = {}, instead = {};
};
/// Words that depend on whether the core is cut.
struct OfCore {
    std::string cut = {}, whole = {};
};
/// A long number in hexadecimal, of which the first digits are enough for a reader.
struct Digest {
    std::string digits = {};
};
/// A number where there is none.
struct Nothing {};

/// A piece of text.
struct Span {
    using Content = std::variant<Wording, TypeName, Count, SignedCount, ByteCount, Share, Bar, Bound, Address,
                                 Value, Notation, Expression, CommandLine, Target, FilePath, Message,
                                 ProcessCall, GivenName, Withheld, OfCore, Digest, Nothing>;
    Content content;
    enum class Style : std::uint8_t { plain, bold, faint } style = Style::plain;
    std::uint16_t widest = 0;  // at most so many columns, whatever the page; 0: any
    bool gives_way = false;    // on a line that is too long for the page this is shortened
    bool quoted = false;       // for a shell
};

/// Spans, one after the other.
class Text {
public:
    Text() = default;
    // NOLINTBEGIN(google-explicit-constructor): a text is written down as what it is made of
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

    /// The same, but
    Text bold() &&;
    Text faint() &&;
    Text at_most(std::uint16_t columns) &&;
    Text giving_way() &&;
    Text quoted() &&;  // as one word of a shell's command

private:
    std::vector<Span> spans_ = {};
};

/// `format` with each "{}" in it replaced by the next of `parts`.
Text put_together(std::string_view format, std::initializer_list<Text> parts);
template <class... Parts>
Text says(std::string_view format, Parts&&... parts) {
    return put_together(format, {Text(std::forward<Parts>(parts))...});
}

/// "1 object", "2 objects", "1,234 objects"; the plural is the singular with an s, unless it is given.
Text how_many(std::uint64_t count, std::string_view singular, std::string_view plural = {});

/// All of `texts`, with `between` between two.
Text joined(std::vector<Text> texts, std::string_view between);

/// "≥ " of a cut core: before a count or a sum that would be larger if the core were whole.
inline Text at_least() { return Bound{Bound::Kind::at_least}; }
/// "≈ " of a cut core: before what might be larger or smaller then.
inline Text about() { return Bound{Bound::Kind::about}; }

}  // namespace heapsift
