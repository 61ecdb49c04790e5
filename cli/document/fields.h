#pragma once

// A row for programs, field by field: what a Datum holds, without making one. A Datum of an object is a tree
// of sixteen entries; to make one for each of ten million rows takes longer than to write them.

#include "cli/document/datum.h"

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace heapsift {

/// Takes the fields of rows in the order of writing. What is passed need only live during the call.
class Fields {
public:
    virtual ~Fields() = default;
    /// Before the fields of each row, and after them.
    virtual void begin() = 0;
    virtual void end() = 0;

    virtual void null(std::string_view name) = 0;
    virtual void truth(std::string_view name, bool value) = 0;
    virtual void number(std::string_view name, std::int64_t value) = 0;
    virtual void number(std::string_view name, std::uint64_t value) = 0;
    virtual void text(std::string_view name, std::string_view value) = 0;
    virtual void address(std::string_view name, Address value) = 0;
    /// A value that the program stored, and its type; null if there is none.
    virtual void value(std::string_view name, const ShortValue& value, std::string_view type) = 0;
    virtual void reference(std::string_view name, const ReferenceStep& step) = 0;
    /// Of a file; its folders are left out where that is asked for.
    virtual void path(std::string_view name, const std::string& path) = 0;

    void add(std::string_view name, bool value) { truth(name, value); }
    template <std::signed_integral Number>
    void add(std::string_view name, Number value) {
        number(name, static_cast<std::int64_t>(value));
    }
    template <std::unsigned_integral Number>
    requires(!std::same_as<Number, bool>) void add(std::string_view name, Number value) {
        number(name, static_cast<std::uint64_t>(value));
    }
    template <class Kind>
    void add(std::string_view name, Id<Kind> value) {
        number(name, std::uint64_t{value});
    }
    void add(std::string_view name, const char* value) { text(name, value); }
    void add(std::string_view name, const std::string& value) { text(name, value); }
    void add(std::string_view name, Address value) { address(name, value); }
    template <class T>
    void add(std::string_view name, const std::optional<T>& value) {
        if (value)
            add(name, *value);
        else
            null(name);
    }
};

/// Makes a Datum of a single row.
class DatumFields final : public Fields {
public:
    void begin() override { row_ = Datum::object(); }
    void end() override {}
    void null(std::string_view name) override { row_[name] = Datum(); }
    void truth(std::string_view name, bool value) override { row_[name] = value; }
    void number(std::string_view name, std::int64_t value) override { row_[name] = value; }
    void number(std::string_view name, std::uint64_t value) override { row_[name] = value; }
    void text(std::string_view name, std::string_view value) override { row_[name] = value; }
    void address(std::string_view name, Address value) override { row_[name] = value; }
    void value(std::string_view name, const ShortValue& value, std::string_view type) override {
        row_[name] = Value{.value = value, .type = std::string(type)};
    }
    void reference(std::string_view name, const ReferenceStep& step) override { row_[name] = Notation{step}; }
    void path(std::string_view name, const std::string& path) override { row_[name] = FilePath{path}; }

    Datum take() { return std::move(row_); }

private:
    Datum row_ = Datum::object();
};

}  // namespace heapsift
