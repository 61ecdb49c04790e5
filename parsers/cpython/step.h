#pragma once

// The name of a reference, as a value.
//
// People read and type a reference's name: ".attr", "['key']", "<cell x>". Code that follows references needs
// to know what it is: an item of a dict, the way from a cell to its content, something that Python has no
// name for. So a name consists of a kind and its parts; code asks for these, and one function, `notation`,
// writes the name. It is here because two sides must agree on it: what is printed, and what is typed back in
// (analysis/expression_steps).

#include "parsers/base/address.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace heapsift {

/// A value in a few characters. A `literal` is what the program stored, and is replaced under --redact;
/// `name` and `summary` are kept. Text from the core is not yet escaped for the terminal, except that
/// literals are in Python's repr notation.
struct ShortValue {
    enum class Kind : std::uint8_t { none, literal, name, summary } kind = Kind::none;
    std::string text;          // "'abc…'", "<function app.load>", "list of 100", "(500, 32, 32, 3) float64"
    std::uint64_t length = 0;  // of a literal: its characters, bytes or digits before it was cut
    bool cut = false;          // an ellipsis stands in it for what was left out
    bool says_type = false;    // begins with the name of its type: "list of 100", "<function app.load>"
    bool constant = false;     // a name that is a literal too: None, True, False, Ellipsis
    bool finite = true;        // not inf or nan, for which Python has no literal
    bool nan = false;          // or has a nan in it: not equal to itself, no lookup finds it
    std::uint32_t type_letters =
        0;  // that it begins with: the name of its type without the module, "Order" of "Order(id=17)"
    // What --redact leaves of a text with values of the program in it: "list of 100". Empty: as `kind` says.
    std::string without_values = {};

    bool operator==(const ShortValue&) const = default;
};

/// Fields of CPython's structs that matter to code that follows references.
enum class Field : std::uint8_t {
    other,
    attributes,     // an instance's, a class's, a module's __dict__
    dict,           // of an object that stands for a dict
    cell_contents,  // a cell's content
    class_,         // its class
    mro,
    bases,
    base,
    traceback,  // of an exception
    tb_frame,
    tb_next,
    f_back,
    subclasses,       // of a class; meant to be weak
    type_cache,       // what lookups in a class found
    dicts_of_threads  // of a threading.local
};

/// The name of a field as a literal in this program's source, decoded at compile time.
struct FieldName {
    const char* text = "";
    Field field = Field::other;
    bool nameless = false;   // Python has no name for it: ".<cache>"
    bool own_frame = false;  // of locals: those of the frame itself, not of a generator's

    constexpr FieldName() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): a field is called by a literal
    consteval FieldName(const char* literal) : FieldName(read(literal)) {}

    static constexpr FieldName read(const char* literal) {
        constexpr struct {
            std::string_view text;
            Field field;
        } known[] = {{".__dict__", Field::attributes},
                     {".<dict>", Field::dict},
                     {".cell_contents", Field::cell_contents},
                     {".__class__", Field::class_},
                     {".__mro__", Field::mro},
                     {".__bases__", Field::bases},
                     {".__base__", Field::base},
                     {".__traceback__", Field::traceback},
                     {".tb_frame", Field::tb_frame},
                     {".tb_next", Field::tb_next},
                     {".f_back", Field::f_back},
                     {".<subclasses>", Field::subclasses},
                     {".<tp_cache>", Field::type_cache},
                     {".<dicts of threads>", Field::dicts_of_threads}};
        FieldName made;
        made.text = literal;
        const std::string_view text(literal);
        made.own_frame = text == ".";
        made.nameless = text.find('<') != std::string_view::npos;
        for (const auto& one : known)
            if (one.text == text) made.field = one.field;
        return made;
    }
};

struct ReferenceStep {
    enum class Kind : std::uint8_t {
        none,       // not known
        attribute,  // .name
        odd_attribute,  // .__dict__[name]: an attribute whose name, a literal, is no identifier; redacted as a value
        index,          // within[number]
        place,          // the holder's name for it: "[0, 3]['x']"
        item,           // [key]
        key,            // key 'x'
        local,          // within, f_locals['name']
        frame_local,   // local 'name': of a running frame
        cell,          // .<cell name>: of a frame; what f_locals shows is in it
        hidden_local,  // .<local name>: of a frame, which f_locals does not show
        offset,        // <+number>: of a guess
        name           // literally: "()", "func()", a place in native memory
    } kind = Kind::none;
    Field field = Field::other;  // of an attribute
    bool nameless = false;       // Python has no name for it
    bool own_frame = false;      // a local of the frame itself, not of a generator's
    bool any = false;            // stands for all of its kind: its index or key is a *
    std::string within;          // what comes before an index or a local: ".iters", ".gi_frame."
    std::string name;            // without the dot; for an item, the text between a str's quotes
    std::uint64_t number =
        0;             // of an index; of an attribute whose name is no identifier, the name's characters
    bool cut = false;  // an ellipsis stands in the name for what was left out
    std::optional<ShortValue> key = std::nullopt;  // replaced under --redact

    bool known() const { return kind != Kind::none; }
    bool is(Field which) const { return kind == Kind::attribute && field == which; }
    bool operator==(const ReferenceStep&) const = default;
};

ReferenceStep attribute_step(std::string name);
ReferenceStep item_step(ShortValue key);
ReferenceStep key_step(ShortValue key);
ReferenceStep named_step(std::string name);
/// The step for a field of a struct.
ReferenceStep field_step(const FieldName& field);

/// In Python's notation: ".attr", "['key']", "[3]"; `shown_key` replaces its key's text. Not escaped.
std::string notation(const ReferenceStep& step, std::string_view shown_key);
std::string notation(const ReferenceStep& step);
/// Whether its notation begins with a dot.
bool is_dotted(const ReferenceStep& step);

}  // namespace heapsift
