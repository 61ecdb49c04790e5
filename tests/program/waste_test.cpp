// What the same content of a program would not need.

#include "analysis/waste.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct Wasted {
    explicit Wasted(ProgramHeap& program, const ProgramHeap::Named& globals, std::size_t limit = 0)
        : analysed((program.module("app", "/srv/app/app.py", globals), program)),
          labels(analysed.graph, {}),
          result(waste(analysed.graph, labels, limit)) {}

    const WasteRow* row(WasteSort sort) const {
        const auto found = std::find_if(result.rows.begin(), result.rows.end(),
                                        [&](const WasteRow& one) { return one.sort == sort; });
        return found == result.rows.end() ? nullptr : &*found;
    }

    Analysed analysed;
    HolderLabeler labels;
    WasteResult result;
};

}  // namespace

TEST_CASE("waste: containers with unused room are rows by holder", "[program][waste]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    std::vector<Address> lists;
    for (int i = 0; i < 20; ++i) lists.push_back(heap.list({heap.none()}, 40));
    Entries entries{{heap.str("key"), heap.none()}};
    entries.resize(600);
    const Wasted wasted(program,
                        {{"LISTS", program.list(lists)}, {"TABLE", heap.dict(entries, {.log2_size = 10})}});
    const WasteRow* row = wasted.row(WasteSort::list_room);
    REQUIRE(row);
    CHECK(row->count == 20);
    CHECK(row->saves == 20 * 304);
    CHECK(row->type == "list");
    CHECK(row->holder.holder == "app");
    CHECK(row->holder.attribute == "LISTS[*]");
    const WasteRow* table = wasted.row(WasteSort::dict_room);
    REQUIRE(table);
    CHECK(table->holder.attribute == "TABLE");
    CHECK(wasted.result.rows.front().saves >= wasted.result.rows.back().saves);
    CHECK(wasted.result.total_rows == wasted.result.rows.size());
}

TEST_CASE("waste: a long list of floats would be an array; short ones and mixed ones not",
          "[program][waste]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    std::vector<Address> floats, ints, mixed;
    for (int i = 0; i < 1200; ++i) floats.push_back(heap.real(i + 0.5));
    for (int i = 0; i < 1100; ++i) ints.push_back(heap.integer((std::int64_t{1} << 35) + i));
    mixed = ints;
    mixed.back() = floats.front();
    const Wasted wasted(
        program,
        {{"FLOATS", program.list(floats)}, {"INTS", program.list(ints)}, {"MIXED", program.list(mixed)}});
    const WasteRow* row = wasted.row(WasteSort::boxed_floats);
    REQUIRE(row);
    CHECK(row->count == 1);
    CHECK(row->holder.attribute == "FLOATS");
    // One of them is in the other list as well.
    const std::uint64_t list = wasted.analysed.memory(row->example_address);
    CHECK(row->bytes == list + 1199 * wasted.analysed.memory(floats[1]));
    CHECK(row->saves > 1199 * 16);
    CHECK_FALSE(wasted.row(WasteSort::boxed_ints));  // each is in both lists
}

TEST_CASE("waste: ints of at most 64 bits would be an array, longer ones not", "[program][waste]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    std::vector<Address> ints, long_ones;
    for (int i = 0; i < 1100; ++i) {
        ints.push_back(heap.integer_of_digits({7, static_cast<std::uint32_t>(i), 7}, i % 2 == 0));
        long_ones.push_back(heap.integer_of_digits({7, static_cast<std::uint32_t>(i), 8}));
    }
    const Wasted wasted(program, {{"INTS", program.list(ints)}, {"LONG", program.heap.tuple(long_ones)}});
    const WasteRow* row = wasted.row(WasteSort::boxed_ints);
    REQUIRE(row);
    CHECK(row->count == 1);
    CHECK(row->holder.attribute == "INTS");
    CHECK(row->saves > 1100 * 24);
}

TEST_CASE("waste: bools would be a byte each", "[program][waste]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    std::vector<Address> bools, mixed;
    for (int i = 0; i < 4000; ++i) bools.push_back(heap.boolean(i % 3 == 0));
    mixed = bools;
    mixed.back() = heap.none();
    const Wasted wasted(program, {{"BOOLS", program.list(bools)}, {"MIXED", program.list(mixed)}});
    const WasteRow* row = wasted.row(WasteSort::boxed_bools);
    REQUIRE(row);
    CHECK(row->count == 1);
    CHECK(row->holder.attribute == "BOOLS");
    CHECK(row->bytes == wasted.analysed.memory(row->example_address));
    CHECK(row->bytes - row->saves == 80 + 4008);
}

TEST_CASE("waste: instances whose class could have __slots__", "[program][waste]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const Address type = program.class_with("Order", {.attributes = {"number", "state"}}),
                  slotted = program.python_class("Slotted", {"number", "state"});
    std::vector<Address> orders;
    for (int i = 0; i < 200; ++i) {
        orders.push_back(program.instance_with(type, {heap.none(), heap.none()}));
        orders.push_back(program.instance(slotted, {heap.none(), heap.none()}));
    }
    const Wasted wasted(program, {{"Order", type}, {"Slotted", slotted}, {"ORDERS", program.list(orders)}});
    const WasteRow* row = wasted.row(WasteSort::instance_dicts);
    REQUIRE(row);
    CHECK(row->type == "app.Order");
    CHECK(row->count == 200);
    CHECK(row->holder.attribute == "ORDERS[*]");
    CHECK(row->bytes - row->saves == 200 * 48);  // the collector's header, the object's, two words
    CHECK(std::count_if(wasted.result.rows.begin(), wasted.result.rows.end(),
                        [](const WasteRow& one) { return one.sort == WasteSort::instance_dicts; }) == 1);
}

TEST_CASE("waste: equal values are one row", "[program][waste]") {
    ProgramHeap program;
    std::vector<Address> texts;
    for (int i = 0; i < 100; ++i) texts.push_back(program.heap.str("the same words again"));
    const Wasted wasted(program, {{"TEXTS", program.list(texts)}}, 1);
    const WasteRow* row = wasted.row(WasteSort::duplicates);
    REQUIRE(row);
    CHECK(row->count >= 100);  // with the names that the interpreter has
    CHECK(row->saves >= 99 * wasted.analysed.memory(texts[0]));
    CHECK(row->holder.attribute == "TEXTS[*]");
    CHECK(wasted.result.rows.size() == 1);
}

TEST_CASE("waste: a small program has no rows", "[program][waste]") {
    ProgramHeap program;
    const Wasted wasted(program, {{"KEPT", program.list({program.heap.real(2.5)})}});
    CHECK(wasted.result.rows.empty());
    CHECK(wasted.result.total_saves == 0);
}
