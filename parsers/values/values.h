#pragma once

// What an object is, in one line: datetime.date(2024, 1, 2), Decimal('1.10'), Order(id=17, total=…).

#include "parsers/cpython/object_kind.h"

#include <atomic>
#include <memory>
#include <string_view>
#include <unordered_map>

namespace heapsift {

class Values;

/// What a function that describes one family of types is given.
struct Describing {
    const Values& values;
    const ObjectReader& object;
    std::size_t limit;  // characters that the text may have, roughly
    int depth;          // how many objects this one is a part of

    const PythonHeap& heap() const { return object.heap(); }
};

/// A value; kind `none` if the object does not read as one of its type.
using Describe = ShortValue (*)(const Describing&);

/// The function for the instances of a type, and of all types derived from it that have no row of their own.
struct ValueRow {
    std::string_view type;  // as TypeInfo::name has it
    Describe describe;
    bool written_in_c =
        true;  // a class written in Python may have the same name, and is laid out differently
};

/// Chooses by type, once for each, and remembers the choice. May be used by several threads at a time.
class Values {
public:
    explicit Values(const PythonHeap& heap);

    /// As Python's repr() writes it, where that says what is stored and does not call code of the program;
    /// else what tells the object from others of its type. A text that is longer than `limit` is cut; short
    /// ones that make no sense if cut (dates, UUIDs) are not. Kind `none`: nothing can be said.
    /// Cost: 100 ns for a type without a row, some microseconds for an object that shows others.
    ShortValue value(Address object, const TypeInfo& type, std::size_t limit, int depth = 0) const;

    /// The value of an object that is part of another one: <Type at 0x…> where it has none.
    ShortValue part(Address object, std::size_t limit, int depth) const;

private:
    Describe find(const TypeInfo& type) const;
    Describe of_class(const TypeInfo& type) const;

    const PythonHeap* heap_;
    // by TypeId; a function is looked for once. Null: not yet.
    std::unique_ptr<std::atomic<Describe>[]> found_;
    std::size_t found_size_ = 0;
};

}  // namespace heapsift
