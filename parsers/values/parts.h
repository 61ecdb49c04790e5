#pragma once

// What the families share: attributes and numbers of Python objects, checked, and a text that is made of
// parts.

#include "parsers/values/values.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapsift {

/// The attribute of that name as the instance stores it: in a slot, its values or its __dict__; null if it
/// has none. No property is run.
Address stored_attribute(const ObjectReader& object, std::string_view name);
/// The same, by names that a C struct or a class gives it; at most `most`, in order. Names may be of the core.
std::vector<std::pair<std::string, Address>> stored_attributes(const ObjectReader& object, std::size_t most);

/// An entry of a class's dict, or of its bases' by their order; null if there is none.
Address class_attribute(const PythonHeap& heap, const TypeInfo& type, std::string_view name);
/// The classes that lookups go through, the type itself first; at most 64.
std::vector<const TypeInfo*> lookup_order(const PythonHeap& heap, const TypeInfo& type);

std::optional<ObjectReader> object_at(const PythonHeap& heap, Address object);
std::string short_name(std::string_view type_name);
/// __qualname__: "Outer.Inner", "make.<locals>.Order".
std::string qualified_name(const PythonHeap& heap, const TypeInfo& type);

/// An int that fits. Nothing for other objects; a bool is an int.
std::optional<std::int64_t> int_value(const PythonHeap& heap, Address object);
/// The magnitude of an int of at most `most` digits of 30 bits, lowest first.
std::optional<std::vector<std::uint32_t>> int_digits(const PythonHeap& heap, Address object,
                                                     std::size_t most);
/// A str's characters, at most 300; nothing if it is none.
std::optional<std::string> str_value(const PythonHeap& heap, Address object);
bool is_true(const PythonHeap& heap, Address object);
bool is_none(const PythonHeap& heap, Address object);

/// The first items of a list or tuple, at most `most`; and how many there are.
struct FirstItems {
    std::vector<Address> items;
    std::uint64_t count = 0;
};
FirstItems first_items(const PythonHeap& heap, Address sequence, std::size_t most);
/// The first entries of a dict, at most `most`. Looks at no more than some thousand places of its table.
std::vector<std::pair<Address, Address>> first_entries(const PythonHeap& heap, Address dict,
                                                       std::size_t most);

/// Python's repr() of a str.
std::string quoted_str(std::string_view text);

/// A text that grows part by part until it is as long as it may be.
class ValueText {
public:
    explicit ValueText(const Describing& of, std::string begin = {}) : of_(of), text_(std::move(begin)) {}

    ValueText& add(std::string_view words) {
        text_ += words;
        return *this;
    }
    /// The value of another object.
    ValueText& part(Address object);
    /// Begins the next of several parts: with a comma unless it is the first. False if there is no room for
    /// it; then an ellipsis is in its place, and no further part is added.
    bool next();
    /// Further parts are left out, for there are more than were asked for.
    void leave_out_the_rest();
    bool cut() const { return cut_; }
    const std::string& text() const { return text_; }

    /// The value as the program stored it. `kept` is what --redact leaves of it, if anything.
    ShortValue literal(std::string_view end = ")", std::string kept = {}) &&;

private:
    Describing of_;
    std::string text_;
    std::size_t parts_ = 0;
    bool cut_ = false, finite_ = true, nan_ = false;
};

/// A whole value that is short.
ShortValue whole_literal_value(std::string text);

}  // namespace heapsift
