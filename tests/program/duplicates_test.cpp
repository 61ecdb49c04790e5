// Equal values of a program: which objects are equal, what one copy would save, and who holds them.

#include "analysis/duplicates.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// A program with one list, app.KEPT, and what it holds twice or more.
struct Compared {
    explicit Compared(ProgramHeap& program, const std::vector<Address>& kept, std::size_t limit = 0)
        : analysed((program.module("app", "/srv/app/app.py", {{"KEPT", program.list(kept)}}), program)),
          labels(analysed.graph, {}),
          result(duplicates(analysed.graph, labels, limit)) {}

    const DuplicateValue* value_of(Address first) const {
        for (const DuplicateValue& value : result.values)
            if (value.first == analysed.id(first)) return &value;
        return nullptr;
    }
    std::uint32_t copies(Address first) const {
        const DuplicateValue* value = value_of(first);
        return value ? value->count : 1;
    }
    DuplicateRow row(Address first) const { return duplicate_row(analysed.heap, result, *value_of(first)); }

    Analysed analysed;
    HolderLabeler labels;
    DuplicatesResult result;
};

Address frozen_set(PythonHeapBuilder& heap, const std::vector<Address>& items) {
    const Address set = heap.set(items);
    heap.put(set + *heap.layout().object.ob_type, heap.builtin("frozenset"));
    return set;
}

}  // namespace

TEST_CASE("duplicates: texts of equal characters are one value, and all but one copy can go",
          "[program][duplicates]") {
    ProgramHeap program;
    const Address one = program.heap.str("germany is a country"),
                  two = program.heap.str("germany is a country"),
                  three = program.heap.str("germany is a country"),
                  other = program.heap.str("germany is a town");
    const Compared compared(program, {one, two, three, other});
    const DuplicateValue* value = compared.value_of(one);
    REQUIRE(value);
    CHECK(value->count == 3);
    CHECK(value->memory == 3 * compared.analysed.memory(one));
    CHECK(value->saves == 2 * compared.analysed.memory(one));
    CHECK(value->fix == DuplicateFix::intern);
    CHECK(compared.copies(other) == 1);
    const DuplicateRow row = compared.row(one);
    CHECK(row.address == one);
    CHECK(row.type == "str");
    CHECK(row.value.text == "'germany is a country'");
    REQUIRE(row.holders.size() == 1);
    CHECK(row.holders[0].holder == "app");
    CHECK(row.holders[0].attribute == "KEPT[*]");
    CHECK(row.holders[0].count == 3);
    REQUIRE(!compared.result.by_holder.empty());
    CHECK(compared.result.by_holder[0].saves <= compared.result.total_saves);
}

TEST_CASE("duplicates: the type is part of a value, and so are the bits of a float",
          "[program][duplicates]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const Address integer = heap.integer(1000), real = heap.real(1000), text = heap.str("1000"),
                  bytes = heap.bytes("1000"), zero = heap.real(0.0), less = heap.real(-0.0),
                  negative = heap.integer(-1000), complex = heap.object("complex"),
                  complex_too = heap.object("complex"), large = heap.integer(std::int64_t{1} << 40),
                  large_too = heap.integer(std::int64_t{1} << 40), real_too = heap.real(1000);
    const Compared compared(program, {integer, real, text, bytes, zero, less, negative, large, large_too,
                                      real_too, complex, complex_too});
    CHECK(compared.copies(integer) == 1);
    CHECK(compared.copies(text) == 1);
    CHECK(compared.copies(bytes) == 1);
    CHECK(compared.copies(zero) == 1);
    CHECK(compared.copies(negative) == 1);
    CHECK(compared.copies(large) == 2);
    CHECK(compared.copies(complex) == 2);
    CHECK(compared.copies(real) == 2);
    CHECK(compared.value_of(real)->fix == DuplicateFix::number_array);
}

TEST_CASE("duplicates: tuples and frozensets of equal items, deep and in any order",
          "[program][duplicates]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const auto word = [&](const char* text) { return heap.str(text); };
    const Address pair = heap.tuple({word("east"), heap.integer(7000)}),
                  pair_too = heap.tuple({word("east"), heap.integer(7000)}),
                  turned = heap.tuple({heap.integer(7000), word("east")}),
                  deep = heap.tuple({heap.tuple({word("east"), heap.integer(7000)}), heap.none()}),
                  deep_too = heap.tuple({pair, heap.none()}), empty = heap.tuple({});
    const Address set = frozen_set(heap, {word("a b"), word("c d")}),
                  set_too = frozen_set(heap, {word("c d"), word("a b")}),
                  other_set = frozen_set(heap, {word("c d"), word("e f")});
    const Address list = program.list({});
    const Address mutable_one = heap.tuple({list}), mutable_two = heap.tuple({list});
    const Compared compared(program, {pair, pair_too, turned, deep, deep_too, empty, set, set_too, other_set,
                                      mutable_one, mutable_two});
    CHECK(compared.copies(pair) == 3);
    CHECK(compared.value_of(pair)->fix == DuplicateFix::one_object);
    CHECK(compared.copies(turned) == 1);
    CHECK(compared.copies(deep) == 2);
    CHECK(compared.copies(set) == 2);
    CHECK(compared.copies(other_set) == 1);
    CHECK(compared.copies(mutable_one) == 1);
}

TEST_CASE("duplicates: a tuple deeper than any stack, and one that leads to itself",
          "[program][duplicates]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    Address deep = heap.tuple({}), deep_too = heap.tuple({});
    for (int i = 0; i < 2000; ++i) {
        deep = heap.tuple({deep});
        deep_too = heap.tuple({deep_too});
    }
    const Address own = heap.tuple({heap.none()}), own_too = heap.tuple({heap.none()});
    heap.put(own + *heap.layout().tuple.ob_item, own_too);
    heap.put(own_too + *heap.layout().tuple.ob_item, own);
    const Compared compared(program, {deep, deep_too, own, own_too});
    CHECK(compared.copies(std::min(deep, deep_too)) == 2);
    CHECK(compared.copies(std::min(own, own_too)) == 1);
}

TEST_CASE("duplicates: constants that only code and functions hold are left out", "[program][duplicates]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const Address code = program.code_using("load", "app.py", {"first name", "second name"}),
                  code_too = program.code_using("store", "app.py", {"first name", "second name"});
    const Compared compared(program, {code, code_too, heap.str("first value"), heap.str("first value")});
    CHECK(compared.result.constants > 0);
    bool found = false;
    for (const DuplicateValue& value : compared.result.values) {
        const std::string text = duplicate_row(compared.analysed.heap, compared.result, value).value.text;
        CHECK(text != "'first name'");
        found = found || text == "'first value'";
    }
    CHECK(found);
}

TEST_CASE("duplicates: the limit keeps what saves most; totals stay", "[program][duplicates]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    std::vector<Address> kept;
    for (int value = 0; value < 10; ++value)
        for (int copy = 0; copy < value + 1; ++copy)
            kept.push_back(heap.str("value number " + std::to_string(value)));
    const Compared compared(program, kept, 3);
    REQUIRE(compared.result.values.size() == 3);
    CHECK(compared.result.values[0].count == 10);
    CHECK(compared.result.values[2].count == 8);
    CHECK(compared.result.total_values >= 9);  // and names that the interpreter has
    CHECK(compared.result.total_saves > compared.result.shown_saves);
    REQUIRE(compared.result.types.size() == 1);
    CHECK(compared.result.types[0].name == "str");
    CHECK(compared.result.types[0].duplicated == compared.result.total_values);
    CHECK(compared.result.types[0].saves == compared.result.total_saves);
}

TEST_CASE("duplicates: what nothing reaches is garbage", "[program][duplicates]") {
    ProgramHeap program;
    const Address one = program.heap.str("a lost text"), two = program.heap.str("a lost text");
    const Address cycle = program.list({one, two, program.heap.none()});
    const Address items = program.heap.heap().pointer(cycle + *program.heap.layout().list.ob_item);
    program.heap.put(items + 16, cycle);
    const Compared compared(program, {program.heap.none()});
    const DuplicateValue* value = compared.value_of(one);
    REQUIRE(value);
    CHECK(value->count == 2);
    CHECK(value->fix == DuplicateFix::collect);
    REQUIRE(compared.row(one).holders.size() == 1);
    CHECK(compared.row(one).holders[0].holder.empty());
}

TEST_CASE("duplicates: a text whose length cannot be true is counted as not read", "[program][duplicates]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const Address one = heap.str("some words"), two = heap.str("some words"), torn = heap.str("some words");
    heap.set(torn, heap.layout().ascii.length, std::int64_t{1} << 44);
    const Compared compared(program, {one, two, torn});
    CHECK(compared.copies(one) == 2);
}
