#pragma once

// A value for programs, from which JSON and CSV are written.
//
// A Datum is a JSON value, or something the writer redacts, and only the writer: an address, a value that the
// program stored, the name of a reference, a path. There are millions of rows with some twenty of them each,
// so it is small: long content is behind a pointer.

#include "cli/document/text.h"
#include "parsers/base/ids.h"

#include <concepts>
#include <functional>
#include <memory>

namespace heapsift {

struct Entry;

class Datum {
public:
    using List = std::vector<Datum>;
    using Entries = std::vector<Entry>;  // in the order of writing
    struct Long {
        Text text;
        bool for_people = false;  // escaped as in text; else unchanged
    };
    /// Hands out the items of a list, from the first on; may be called again.
    using Stream = std::function<void(const std::function<void(const Datum&)>&)>;
    using Content =
        std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string, Address,
                     std::shared_ptr<const Long>, List, Entries, std::shared_ptr<const Stream>>;

    // NOLINTBEGIN(google-explicit-constructor): code writes a datum as what it holds
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
    Datum(Value value);  // null if there is none
    Datum(Notation name);
    Datum(Expression expression);  // "" if there is none
    Datum(FilePath path);
    Datum(Message message);
    Datum(GivenName name);
    Datum(Withheld text);          // null under --redact, or if there is none
    Datum(ProcessCall arguments);  // without the name of the program
    Datum(Text text);              // as people read it, but without bounds, style or shortening
    template <class T>
    Datum(const std::optional<T>& value) : Datum(value ? Datum(*value) : Datum()) {}
    Datum(List list);
    Datum(Entries entries);
    Datum(Stream items);  // a list whose items are made as they are written: there may be millions
    // NOLINTEND(google-explicit-constructor)

    /// An object without entries; operator[] adds them.
    static Datum object();
    static Datum list(std::size_t reserve = 0);
    /// A list of what `make` returns for each of `rows`.
    template <class Range, class Make>
    static Datum list_of(const Range& rows, const Make& make);

    /// The entry of this name, added at the end if there is none. On an object, or on a null, which becomes
    /// one.
    Datum& operator[](std::string_view name);
    /// Null if there is no such entry.
    const Datum* find(std::string_view name) const;
    void push_back(Datum item);

    const List& items() const { return std::get<List>(content_); }
    const Content& content() const { return content_; }
    bool is_null() const { return std::holds_alternative<std::nullptr_t>(content_); }
    /// For lists and objects: whether there are no entries. Not for lists that are made as they are written.
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

/// Null if the text is empty.
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
