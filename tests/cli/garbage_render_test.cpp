// The collector's state, cycles and reference counts, as text and in the keys of the contract.

#include "cli/render/cycles.h"
#include "cli/render/gc.h"
#include "cli/render/refcounts.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

GcResult disabled_collector() {
    GcInterpreter main;
    main.state = GcState{};
    main.state->enabled = false;
    main.state->debug = gc_debug_saveall | gc_debug_stats | 0x40;
    main.state->generations[0] = {700, 812, 812, true};
    main.state->generations[1] = {10, 3, 0, true};
    main.state->generations[2] = {10, 0, 20128, false};
    main.state->long_lived = 400;
    main.state->long_lived_new = 7;
    main.collectable = {4, 160};
    main.freed_count = 9;
    main.freed_bytes = 1024;
    GcResult result;
    result.interpreters = {main};
    result.finalizers = {{"app.Handle", 2}};
    return result;
}

}  // namespace

TEST_CASE("render gc: how it was set, and what it would have found", "[cli][render]") {
    Shown shown;
    const GcResult result = disabled_collector();
    CHECK(render_gc(result, shown.redactor).text(shown.page) ==
          "The collector is disabled; debug flags: DEBUG_STATS, DEBUG_SAVEALL, DEBUG_0x40.\n"
          "  generation   objects  a collection starts\n"
          "  young            812  812 of 701 allocations\n"
          "  middle             0  3 of 11 young collections\n"
          "  old         ≥ 20,128  0 of 11 middle collections, and 7 of 100 new objects\n"
          "gc.collect() would have found 4 tracked objects (160 B), and freed 9 objects with all that hangs on them: 1.0 KiB.\n"
          "gc.garbage is empty.\n"
          "Finalizers would run first, and could keep what they are given: 2 app.Handle.\n"
          "next: heapsift cycles    what this garbage is\n");
}

TEST_CASE("render gc: JSON has the keys of the contract", "[cli][render]") {
    Shown shown;
    const GcResult result = disabled_collector();
    const Json json = render_gc(result, shown.redactor).data["interpreters"][0];
    for (const char* key : {"id", "enabled", "collecting", "debug_flags", "thresholds", "counts", "generations", "frozen",
                            "garbage", "collectable", "uncollectable"})
        CHECK(json.contains(key));
    CHECK(json["debug_flags"] == Json({"STATS", "SAVEALL", "0x40"}));
    CHECK(json["thresholds"] == Json({700, 10, 10}));
    CHECK(json["collectable"]["freed_bytes"] == 1024);
}

TEST_CASE("render gc: a state that does not read is null", "[cli][render]") {
    Shown shown;
    GcResult result;
    result.interpreters.emplace_back();
    CHECK(render_gc(result, shown.redactor).text(shown.page).starts_with("The collector does not read.\n"));
    CHECK(render_gc(result, shown.redactor).data["interpreters"][0]["enabled"].is_null());
}

TEST_CASE("render cycles: no garbage is a sentence", "[cli][render]") {
    Shown shown;
    HandmadeHeap made;
    made.objects = {{Address(0x100), "list", facts(40, 48, 0, 1), {}, {}}};
    const HeapSnapshot heap = made.build();
    const HeapGraph graph(heap);
    const ObjectStates states(graph);
    const Cycles cycles(states, {});
    const Answer answer = render_cycles(cycles, states, 20, shown.redactor);
    CHECK(answer.text(shown.page) == "No cycle is garbage.\nnext: heapsift gc    the collector itself\n");
    CHECK(answer.data["total"]["cycles"] == 0);
}

TEST_CASE("render refcounts: a word that may be the holder is named, what is not found is said", "[cli][render]") {
    Shown shown;
    RefcountsResult result;
    RefcountRow row;
    row.object.address = Address(0x7f0000001000);
    row.object.type = "app.Function";
    row.object.facts = facts(48, 64, 0, 3);
    row.accounted = 1;
    row.excess = 2;
    row.holders = {{Address(0x5000), "<libfoo.so cache+0x10>"}};
    result.rows = {row};
    result.types = {{"app.Function", 0, 1, 2, 1}};
    result.objects = 1;
    result.excess = 2;
    result.explained = 1;
    result.checked = 10;
    result.balanced = 9;
    result.counted = 12;
    result.accounted = 10;
    const Answer answer = render_refcounts(result, shown.redactor);
    CHECK(answer.text(shown.page) ==
          "10 objects count 12 references; 10 were found in Python's own memory. 2 are in excess on 1 object: C code holds them, "
          "or "
          "they leaked. For 50 % of these a word was found that may be the holder.\n"
          "  objects  excess ▾  held by C code  type\n"
          "        1         2               1  app.Function\n"
          "single objects: those first whose holder was not found\n"
          "  address         counted  found  type          value  the rest is held by\n"
          "  0x7f0000001000        3      1  app.Function         <libfoo.so cache+0x10> 0x5000, 1 not found\n"
          "next: heapsift referrers 0x7f0000001000    the references that were found\n");
}
