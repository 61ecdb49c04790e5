// The collector as it is in a program's memory, what it would find, and reference counts compared with the
// references that exist.

#include "analysis/cycles.h"
#include "analysis/gc.h"
#include "analysis/refcounts.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

const RefcountRow* row_of(const std::vector<RefcountRow>& rows, Address object) {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const RefcountRow& row) { return row.object.address == object; });
    return found == rows.end() ? nullptr : &*found;
}

}  // namespace

TEST_CASE("gc: a ring that nothing holds would be found, one that a local holds would not", "[program][gc]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address one = program.instance(type), two = program.instance(type, {Address(), one});
    program.set_slot(one, 1, two);
    const Address three = program.instance(type), four = program.instance(type, {Address(), three});
    program.set_slot(three, 1, four);
    program.module("app", "/srv/app/app.py", {{"Node", type}});
    program.call("main", {{"node", three}});
    const Analysed analysed(program);
    const GcResult result = gc(analysed.heap, 0, true);
    REQUIRE(result.interpreters.size() == 1);
    REQUIRE(result.interpreters[0].state.has_value());
    CHECK(result.interpreters[0].state->enabled);
    CHECK(result.interpreters[0].collectable.count == 2);
    std::vector<ObjectId> expected = {analysed.id(one), analysed.id(two)};
    std::sort(expected.begin(), expected.end());
    CHECK(result.found == expected);
    CHECK(result.interpreters[0].freed_bytes == analysed.memory(one) + analysed.memory(two));
}

TEST_CASE("gc: what gc.garbage holds is listed, and is no garbage to the collector", "[program][gc]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address kept = program.instance(type);
    program.set_slot(kept, 1, kept);
    program.collector_garbage({kept});
    program.module("app", "/srv/app/app.py", {{"Node", type}});
    const Analysed analysed(program);
    const GcResult result = gc(analysed.heap, 0, true);
    REQUIRE(result.interpreters.size() == 1);
    CHECK(result.interpreters[0].garbage_count == 1);
    REQUIRE(result.interpreters[0].garbage.size() == 1);
    CHECK(result.interpreters[0].garbage[0].address == kept);
    CHECK(result.found.empty());
}

TEST_CASE("cycles: equal rings are one kind, and what hangs below goes with them", "[program][cycles]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    std::uint64_t expected = 0;
    std::vector<Address> tails;
    for (int ring = 0; ring < 5; ++ring) {
        const Address tail = program.heap.real(ring), one = program.instance(type, {tail}),
                      two = program.instance(type, {Address(), one});
        program.set_slot(one, 1, two);
        tails.push_back(tail);
    }
    const Address used = program.instance(type);
    program.set_slot(used, 1, used);
    program.module("app", "/srv/app/app.py", {{"Node", type}, {"USED", used}});
    const Analysed analysed(program);
    Work work(analysed.heap);
    const CyclesResult garbage = cycles(work, {});
    REQUIRE(garbage.kinds.size() == 1);
    CHECK(garbage.kinds[0].cycles == 5);
    CHECK(garbage.kinds[0].objects == 10);
    for (const Cycle& cycle : garbage.cycles) {
        expected += cycle.retained;
        CHECK(cycle.count == 2);
        CHECK(cycle.freed_count == 3);
    }
    CHECK(expected == 10 * analysed.memory(used) + 5 * analysed.memory(tails.front()));
    const CyclesResult all = cycles(work, {.reachable = true});
    CHECK(std::any_of(all.cycles.begin(), all.cycles.end(), [&](const Cycle& cycle) {
        return cycle.count == 1 && all.members_of(cycle).front() == analysed.id(used);
    }));
}

TEST_CASE("refcounts: a count above the references is an excess, and a word of C code explains it",
          "[program][refcounts]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address leaked = program.instance(type), held = program.instance(type),
                  whole = program.instance(type);
    program.leak(leaked, 2);
    program.hold_natively(held);
    program.module("app", "/srv/app/app.py",
                   {{"Node", type}, {"LEAKED", leaked}, {"HELD", held}, {"WHOLE", whole}});
    const Analysed analysed(program);
    const RefcountsResult result = refcounts(analysed.heap, {});
    const RefcountRow* of_leaked = row_of(result.rows, leaked);
    REQUIRE(of_leaked != nullptr);
    CHECK(of_leaked->excess == 2);
    CHECK(of_leaked->accounted == 1);
    CHECK(of_leaked->leaked == 2);
    CHECK(of_leaked->holders.empty());
    const RefcountRow* of_held = row_of(result.rows, held);
    REQUIRE(of_held != nullptr);
    CHECK(of_held->excess == 1);
    CHECK(of_held->holders.size() == 1);
    CHECK(row_of(result.rows, whole) == nullptr);
    CHECK(row_of(result.deficits, whole) == nullptr);
    CHECK(result.leaked == 2);
}

TEST_CASE("refcounts: a word that was left in freed memory holds nothing", "[program][refcounts]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address leaked = program.instance(type);
    const Address block = program.heap.allocate(64);
    program.heap.put(block + 32, leaked);
    program.leak(leaked, 1);
    program.module("app", "/srv/app/app.py", {{"Node", type}, {"LEAKED", leaked}});
    const bool freed = GENERATE(false, true);
    if (freed) {  // as free() does: the next chunk says so, and how long this one is
        const auto size = program.heap.heap().integer<std::uint64_t>(block - 8) & ~std::uint64_t{7};
        const auto next = program.heap.heap().integer<std::uint64_t>(block - 8 + size);
        program.heap.put(block - 16 + size, size);
        program.heap.put(block - 8 + size, next & ~std::uint64_t{1});
    }
    const Analysed analysed(program);
    const RefcountsResult result = refcounts(analysed.heap, {});
    const RefcountRow* row = row_of(result.rows, leaked);
    REQUIRE(row != nullptr);
    CHECK(row->excess == 1);
    CHECK(row->leaked == (freed ? 1 : 0));
}

TEST_CASE("refcounts: a count below the references is a deficit", "[program][refcounts]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address released = program.instance(type);
    program.leak(released, -1);
    program.module("app", "/srv/app/app.py",
                   {{"Node", type}, {"A", released}, {"B", released}, {"C", program.list({released})}});
    const Analysed analysed(program);
    const RefcountsResult result = refcounts(analysed.heap, {});
    const RefcountRow* row = row_of(result.deficits, released);
    REQUIRE(row != nullptr);
    CHECK(row->excess == -1);
    CHECK(row->accounted == 3);
    RefcountsQuery only;
    only.types = {analysed.heap.snapshot().type_of(analysed.id(released))};
    CHECK(refcounts(analysed.heap, only).deficit_objects == 1);
    CHECK(refcounts(analysed.heap, only).checked == 1);
}

TEST_CASE("gc: each interpreter has the garbage of its own lists, and what dies with it", "[program][gc]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address text = program.heap.real(1.5);
    const auto ring = [&](int length, Address value) {
        std::vector<Address> made;
        for (int i = 0; i < length; ++i) made.push_back(program.instance(type, {i == 0 ? value : Address()}));
        for (int i = 0; i < length; ++i) program.set_slot(made[i], 1, made[(i + 1) % length]);
        return made;
    };
    const std::vector<Address> first = ring(2, text);
    program.module("app", "/srv/app/app.py", {{"Node", type}});
    program.start_interpreter();
    const std::vector<Address> second = ring(3, Address());
    const Address kept = program.list({});
    program.collector_garbage({kept, kept});
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    const GcResult result = gc(analysed.heap, 1, true);
    REQUIRE(result.interpreters.size() == 2);
    const GcInterpreter &one = result.interpreters[0], &two = result.interpreters[1];
    const ObjectFacts node = analysed.heap.facts(analysed.id(first[0]));
    CHECK(one.id == 0);
    CHECK(one.collectable.count == 2);
    CHECK(one.collectable.size == 2 * node.size);
    CHECK(one.freed_count == 3);  // and the float
    CHECK(one.freed_bytes == 2 * node.memory + analysed.memory(text));
    CHECK(one.garbage_count == 0);
    CHECK(two.id == 1);
    CHECK(two.collectable.count == 3);
    CHECK(two.freed_count == 3);
    CHECK(two.freed_bytes == 3 * node.memory);
    CHECK(two.garbage_count == 2);
    CHECK(two.garbage.size() == 1);  // cut
    CHECK(result.found_count == 5);
    CHECK(result.found.size() == 1);
    CHECK(result.certain);
}

TEST_CASE("gc: frozen garbage is the interpreter's in whose permanent generation it is", "[program][gc]") {
    const bool several = GENERATE(false, true);
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    program.module("app", "/srv/app/app.py", {{"Node", type}});
    if (several) program.start_interpreter();
    const Address frozen = program.instance(type), below = program.instance(type);
    program.set_slot(frozen, 1, frozen);
    program.set_slot(frozen, 0, below);
    program.freeze(frozen);
    const Analysed analysed(program);
    const GcResult result = gc(analysed.heap, 0, true);
    REQUIRE(result.interpreters.size() == (several ? 2 : 1));
    const GcInterpreter& own = result.interpreters.back();
    CHECK(own.frozen_garbage.count == 2);
    CHECK(own.collectable.count == 0);
    CHECK(own.freed_count == 0);
    REQUIRE(own.state);
    CHECK(own.state->frozen.objects == 1);
    CHECK(result.found.empty());
    if (several) CHECK(result.interpreters.front().frozen_garbage.count == 0);
}

TEST_CASE("gc: a finalizer in garbage is counted by type, and a legacy one keeps all that it leads to",
          "[program][gc]") {
    ProgramHeap program;
    const LayoutOffset finalize = program.heap.layout().type.tp_finalize,
                       legacy = program.heap.layout().type.tp_del;
    const Address modern_type = program.python_class("Modern", {"next"}),
                  legacy_type = program.python_class("Legacy", {"next"}),
                  plain_type = program.python_class("Plain", {"next"});
    program.heap.set(modern_type, finalize, program.heap.code_address());
    program.heap.set(legacy_type, legacy, program.heap.code_address());
    for (int i = 0; i < 3; ++i) {
        const Address one = program.instance(modern_type);
        program.set_slot(one, 0, one);
    }
    const Address old = program.instance(legacy_type), led_to = program.instance(plain_type, {old});
    program.set_slot(old, 0, led_to);
    const bool several = GENERATE(false, true);
    if (several) program.start_interpreter();
    program.module("app", "/srv/app/app.py",
                   {{"Modern", modern_type}, {"Legacy", legacy_type}, {"Plain", plain_type}});
    const Analysed analysed(program);
    const GcResult result = gc(analysed.heap, 0, true);
    CHECK(result.interpreters[0].collectable.count == 3);
    CHECK(result.interpreters[0].uncollectable.count == 2);
    REQUIRE(result.finalizers.size() == 1);
    CHECK(result.finalizers[0].type == "app.Modern");
    CHECK(result.finalizers[0].count == 3);
    CHECK(result.found_count == 5);
}

TEST_CASE("refcounts: a local of a generator in a block of malloc's is the generator's, not C code's",
          "[program][refcounts]") {
    ProgramHeap program;
    const Address item = program.list({}), generator = program.generator("produce", {{"item", item}});
    program.leak(item, 1);
    program.module("app", "/srv/app/app.py", {{"SOURCE", generator}});
    const Analysed analysed(program);
    const RefcountsResult result = refcounts(analysed.heap, {});
    const RefcountRow* row = row_of(result.rows, item);
    REQUIRE(row != nullptr);
    CHECK(row->accounted == 1);
    CHECK(row->excess == 1);
    CHECK(row->holders.empty());
    CHECK(row->leaked == 1);
}

TEST_CASE("refcounts: C code that keeps a str for its characters holds it", "[program][refcounts]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const Address text = heap.str("a docstring that C code keeps"), bytes = heap.bytes("bytes of C code"),
                  free = heap.str("nobody keeps these characters");
    for (const Address leaked : {text, bytes, free}) program.leak(leaked, 1);
    program.module("app", "/srv/app/app.py", {{"TEXT", text}, {"BYTES", bytes}, {"FREE", free}});
    const Address of_text = program.hold_in_library(text + *heap.layout().ascii.size, "/usr/lib/libdoc.so");
    const Address of_bytes =
        program.hold_in_library(bytes + *heap.layout().bytes.ob_sval, "/usr/lib/libraw.so");
    const Analysed analysed(program);
    const RefcountsResult result = refcounts(analysed.heap, {});
    const RefcountRow *text_row = row_of(result.rows, text), *bytes_row = row_of(result.rows, bytes),
                      *free_row = row_of(result.rows, free);
    REQUIRE((text_row && bytes_row && free_row));
    REQUIRE(text_row->holders.size() == 1);
    CHECK(text_row->holders[0].word == of_text);
    CHECK(text_row->holders[0].place == "<libdoc.so+0x40, to its characters>");
    CHECK(text_row->open() == 0);
    REQUIRE(bytes_row->holders.size() == 1);
    CHECK(bytes_row->holders[0].word == of_bytes);
    CHECK(free_row->holders.empty());
    CHECK(free_row->leaked == 1);
    CHECK(result.rows.front().object.address == free);  // nothing explains it
    CHECK(result.explained == 2);
    RefcountsQuery cut;
    cut.limit = 1;
    CHECK(refcounts(analysed.heap, cut).rows.size() == 1);
    CHECK(refcounts(analysed.heap, cut).objects == 3);
}

TEST_CASE(
    "refcounts: what a static object refers to was never counted, and its own reference is the program's",
    "[program][refcounts]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const Address item = program.list({});
    // A tuple that the compiler made, in a library's data.
    const Address tuple = program.hold_in_library(Address(), "/usr/lib/libfrozen.so") + 64;
    heap.put(tuple, std::uint64_t{1});
    heap.put(tuple + 8, heap.builtin("tuple"));
    heap.put(tuple + 16, std::int64_t{1});
    heap.put(tuple + 24, item);
    program.module("app", "/srv/app/app.py", {{"ITEM", item}, {"FROZEN", tuple}});
    program.leak(item, -1);
    program.leak(tuple, 1);
    const Analysed analysed(program);
    const RefcountsResult result = refcounts(analysed.heap, {});
    const RefcountRow* of_item = row_of(result.deficits, item);
    REQUIRE(of_item != nullptr);
    CHECK(of_item->excess == -1);
    CHECK(result.deficit_explained == 1);
    REQUIRE(result.deficit_types.size() == 1);
    CHECK(result.deficit_types[0].name == "list");
    CHECK(result.deficit_types[0].explained == 1);
    const RefcountRow* of_tuple = row_of(result.rows, tuple);
    REQUIRE(of_tuple != nullptr);
    CHECK(of_tuple->excess == 1);
    REQUIRE(of_tuple->holders.size() == 1);
    CHECK(of_tuple->holders[0].place == "<static, of libfrozen.so>");
    CHECK(of_tuple->leaked == 0);
}
