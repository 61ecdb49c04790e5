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
