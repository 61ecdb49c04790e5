#pragma once

// A value for programs: what JSON and CSV are written of.
//
// It is a value of JSON, and besides an address, a value that the program stored, a reference's name, a path: the
// writer redacts these, and nothing else does. A row has some twenty of them and there are millions of rows, so it is
// small: what is long lies behind a pointer.

#include "cli/document/text.h"
#include "parsers/base/ids.h"

#include <concepts>
#include <memory>

namespace heapsift {

struct Entry;

class Datum {
public:
    using List = std::vector<Datum>;
    using Entries = std::vector<Entry>;  // in the order in which they are written
    struct Long {
        Text text;
        bool for_people = false;  // escaped as in text, else as it is
    };
    using Content = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string,
                                 Address, std::shared_ptr<const Long>, List, Entries>;

    // NOLINTBEGIN(google-explicit-constructor): a datum is written down as what it holds
    Datum() : content_(nullptr) {}
    Datum(std::nullptr_t) : content_(nullptr) {}
    Datum(bool truth) : content_(truth) {}
    template <std::signed_integral Number>
    Datum(Number number) : content_(static_cast<std::int64_t>(number)) {}
    template <std::unsigned_integral Number>
    requires(!std::same_as<Number, bool>) Datum(Number number)
        : content_(static_cast<std::uint64_t>(number)) {}
    template <class Kind>
    Datum(Id<Kind> id) : content_(std::uint64_t{id}) {}
    Datum(double number) : content_(number) {}
    Datum(const char* text) : content_(std::string(text)) {}
    Datum(std::string_view text) : content_(std::string(text)) {}
    Datum(std::string text) : content_(std::move(text)) {}
    Datum(Address address) : content_(address) {}
    Datum(Value value);  // null where there is none
    Datum(Notation name);
    Datum(Expression expression);  // "" where there is none
    Datum(FilePath path);
    Datum(Message message);
    Datum(GivenName name);
    Datum(Withheld text);          // null under --redact, or where there is none
    Datum(ProcessCall arguments);  // without the name
    Datum(Text text);              // as people read it: no bounds, no style, nothing shortened
    template <class T>
    Datum(const std::optional<T>& value) : Datum(value ? Datum(*value) : Datum()) {}
    Datum(List list);
    Datum(Entries entries);
    // NOLINTEND(google-explicit-constructor)

    /// {}: entries are added by name.
    static Datum object();
    static Datum list(std::size_t reserve = 0);
    /// Of each of `rows` what `make` makes of it.
    template <class Range, class Make>
    static Datum list_of(const Range& rows, const Make& make);

    /// The entry of this name, added at the end where there is none: an object's, or a null's, which becomes one.
    Datum& operator[](std::string_view name);
    /// Nothing where there is no such entry.
    const Datum* find(std::string_view name) const;
    void push_back(Datum item);

    const List& items() const { return std::get<List>(content_); }
    const Content& content() const { return content_; }
    bool is_null() const { return std::holds_alternative<std::nullptr_t>(content_); }
    /// Of a list or an object: has it no entries?
    bool empty() const;

private:
    Content content_;
};

struct Entry {
    std::string name = {};
    Datum value = {};
};

/// An object of these entries.
Datum entries(std::initializer_list<Entry> entries);

/// Null where the text is empty.
Datum or_null(const std::string& text);
Datum or_null(Expression expression);
Datum or_null(Address address);

template <class Range, class Make>
Datum Datum::list_of(const Range& rows, const Make& make) {
    Datum all = list(std::size(rows));
    for (const auto& row : rows) all.push_back(make(row));
    return all;
}

}  // namespace heapsift
