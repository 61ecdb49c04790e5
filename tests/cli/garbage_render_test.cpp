// The collector's state, cycles and reference counts, as text and in the keys of the contract.

#include "cli/render/cycles.h"
#include "cli/render/gc.h"
#include "cli/render/refcounts.h"
#include "cli/render/why.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/cli/shown.h"

#include <algorithm>
#include <string>

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
    CHECK(Written(render_gc(result), shown).text(shown.page) ==
          "The collector is disabled; debug flags: DEBUG_STATS, DEBUG_SAVEALL, DEBUG_0x40.\n"
          "  generation   objects  a collection starts\n"
          "  young            812  812 of 701 allocations\n"
          "  middle             0  3 of 11 young collections\n"
          "  old         ≥ 20,128  0 of 11 middle collections, and 7 of 100 new objects\n"
          "gc.collect() would free 1.0 KiB: 9 objects (4 of them tracked by the collector, 160 B).\n"
          "gc.garbage is empty.\n"
          "Finalizers would run first, and could keep what they are given: 2 app.Handle.\n"
          "next: heapsift cycles    what this garbage is\n");
}

TEST_CASE("render gc: garbage that rests on guesses is counted, and said to", "[cli][render]") {
    Shown shown;
    GcResult result = disabled_collector();
    result.certain = false;
    result.interpreters[0].doubtful = {2, 80};
    CHECK_THAT(
        Written(render_gc(result), shown).text(shown.page),
        ContainsSubstring("would free ≈ 1.0 KiB: 9 objects (6 of them tracked by the collector, 240 B). 2 of "
                          "them (80 B) only if their types report what is guessed here.\n"));
    result.interpreters[0].collectable = {};
    const std::string text = Written(render_gc(result), shown).text(shown.page);
    CHECK_THAT(
        text, ContainsSubstring("would free ≈ 1.0 KiB: 9 objects (2 of them tracked by the collector, 80 B), "
                                "if their types report what is guessed here.\n"));
    CHECK_THAT(text, ContainsSubstring("next: heapsift cycles"));
}

TEST_CASE("render gc: a threshold below 0 starts at each, and no survivors make no condition",
          "[cli][render]") {
    Shown shown;
    GcResult result = disabled_collector();
    GcState& state = *result.interpreters[0].state;
    state.enabled = true;
    state.generations[0].threshold = -1;
    state.generations[2].threshold = -3;
    state.long_lived = 3;
    state.frozen.objects = 375;
    const std::string text = Written(render_gc(result), shown).text(shown.page);
    CHECK_THAT(text, ContainsSubstring("at each of the allocations: its threshold is -1\n"));
    CHECK_THAT(text, ContainsSubstring("at each of the middle collections: its threshold is -3\n"));
    CHECK_THAT(text, !ContainsSubstring("no collection starts"));
    CHECK_THAT(text, ContainsSubstring("put aside by gc.freeze(), or as Python starts (3.12)"));
    state.generations[0].threshold = 0;
    CHECK_THAT(Written(render_gc(result), shown).text(shown.page),
               ContainsSubstring("Its first threshold is 0: no collection"));
}

TEST_CASE("render gc: JSON has the keys of the contract", "[cli][render]") {
    Shown shown;
    const GcResult result = disabled_collector();
    const Json json = Written(render_gc(result), shown).data["interpreters"][0];
    for (const char* key : {"id", "enabled", "collecting", "debug_flags", "thresholds", "counts",
                            "generations", "frozen", "garbage", "collectable", "uncollectable"})
        CHECK(json.contains(key));
    CHECK(json["debug_flags"] == Json({"STATS", "SAVEALL", "0x40"}));
    CHECK(json["thresholds"] == Json({700, 10, 10}));
    CHECK(json["collectable"]["freed_bytes"] == 1024);
}

TEST_CASE("render gc: a state that does not read is null", "[cli][render]") {
    Shown shown;
    GcResult result;
    result.interpreters.emplace_back();
    CHECK(Written(render_gc(result), shown).text(shown.page).starts_with("The collector does not read.\n"));
    CHECK(Written(render_gc(result), shown).data["interpreters"][0]["enabled"].is_null());
}

TEST_CASE("render gc: that the collector's settings are not known is told once, and only then",
          "[cli][render]") {
    Layout layout = *builtin_layout({3, 11});
    Diagnostics diagnostics;
    note_collector_settings(layout, diagnostics);
    CHECK(diagnostics.all().empty());
    layout.gc_state.enabled = {};
    note_collector_settings(layout, diagnostics);
    REQUIRE(diagnostics.all().size() == 1);
    CHECK(diagnostics.all().front().code == "collector-settings-unknown");
    CHECK(diagnostics.all().front().severity == Severity::note);
}

TEST_CASE("render cycles: no garbage is a sentence", "[cli][render]") {
    Shown shown;
    HandmadeHeap made;
    made.objects = {{Address(0x100), "list", facts(40, 48, 0, 1), {}, {}}};
    const HandmadeReader heap = made.build();
    Work work(heap);
    const Written answer(render_cycles(kept(cycles(work, {})), {}), shown);
    CHECK(answer.text(shown.page) == "No cycle is garbage.\nnext: heapsift gc    the collector itself\n");
    CHECK(answer.data["total"]["cycles"] == 0);
}

TEST_CASE(
    "render cycles: what a leaked reference holds is said, and rows that read alike say how they differ",
    "[cli][render]") {
    Shown shown;
    HandmadeHeap made;
    const auto node = [&](std::uint64_t address, std::int64_t refcount, std::vector<Reference> references) {
        made.objects.push_back(
            {Address(address), "Node", facts(40, 48, 0, refcount), {}, std::move(references)});
        made.objects.back().facts.gc_tracked = true;
    };
    node(0x100, 2, {reference(0x200, ".other")});
    node(0x200, 1, {reference(0x100, ".other")});
    const auto text = [&] {
        const HandmadeReader heap = made.build();
        Work work(heap);
        const auto result = kept(cycles(work, {}));
        const CycleRows all = [&](const std::function<void(const CycleRow&)>& visit) {
            for (const Cycle& cycle : result->cycles) visit(cycle_row(work, *result, cycle, {}));
        };
        const Written answer(render_cycles(result, all), shown);
        for (const Json& row : rows_of(answer)) {
            CHECK(row["path"] == "Node .other -> Node .other -> Node");
            for (const std::string& column : answer.document.csv_columns) CHECK(row.contains(column));
        }
        if (!result->cycles.empty()) {
            const CycleRow first = cycle_row(work, *result, result->cycles[0], {.limit = 0, .opening = true});
            for (const Json& row : rows_of(Written(render_cycle(first, *result), shown))) {
                CHECK(row["id"] == 1);
                CHECK(row["members"].size() == 2);
                CHECK(row["opening"]["edges"].size() == row["opening"]["count"]);
            }
        }
        return answer.text(shown.page);
    };
    CHECK_THAT(text(), ContainsSubstring("No cycle is garbage. 1 cycle (2 objects, 96 B) is kept alive by "
                                         "what is not in this core, native "
                                         "code or a leaked reference: heapsift refcounts\n"));
    made.objects.clear();
    node(0x100, 1, {reference(0x200, ".other")});
    node(0x200, 1, {reference(0x100, ".other")});
    node(0x300, 2, {reference(0x400, ".other"), reference(0x400, ".tail")});
    node(0x400, 2, {reference(0x300, ".other"), reference(0x300, ".head")});
    CHECK_THAT(text(), ContainsSubstring("unlike 1: also by .head, .tail; "));
}

TEST_CASE("render why: a ring through dicts is folded, and of what repeats nothing the middle is left out",
          "[cli][render]") {
    Shown shown;
    WhyResult result;
    result.reach = Reach::unreachable;
    result.target.type = "dict";
    const auto add = [&](const std::string& name, const std::string& type) {
        WhyStep step;
        step.edge.reference = reference(0, name);
        step.edge.target.type = type;
        result.cycle.push_back(step);
    };
    const auto text_of = [&](std::size_t limit) {
        lay_out(result, limit);
        return Written(render_why(result), shown).text(shown.page);
    };
    const auto lines = [&](std::size_t limit) {
        const std::string text = text_of(limit);
        return std::count(text.begin(), text.end(), '\n');
    };
    for (int link = 0; link < 1000; ++link) {
        add(".next", "app.Node");
        add(".__dict__", "dict");
    }
    const auto folded = lines(20);
    CHECK(folded < 12);
    CHECK(lines(0) == folded);
    CHECK_THAT(text_of(20), ContainsSubstring("× 998 more .next.__dict__\n"));
    result.cycle.clear();
    for (int step = 0; step < 300; ++step) add(".x" + std::to_string(step), "app.Node");
    CHECK(lines(0) > 300);
    CHECK(lines(20) < 30);
    CHECK_THAT(text_of(20), ContainsSubstring("… 280 more steps; all: add -n 0\n"));
}

TEST_CASE("render refcounts: a word that may be the holder is named, what is not found is said",
          "[cli][render]") {
    Shown shown;
    RefcountsResult result;
    RefcountRow row;
    row.object.address = Address(0x7f0000001000);
    row.object.type = "app.Function";
    row.object.facts = facts(48, 64, 0, 3);
    row.accounted = 1;
    row.excess = 2;
    row.holders = {{Address(0x5000), "<libfoo.so cache+0x10>", {}}};
    result.rows = {row};
    result.types = {{"app.Function", TypeId(0), 1, 2, 1}};
    result.objects = 1;
    result.excess = 2;
    result.explained = 1;
    result.checked = 10;
    result.balanced = 9;
    result.counted = 12;
    result.accounted = 10;
    for (shown.page.width = 60; shown.page.width <= 100; shown.page.width += 10) {
        const std::string narrow = Written(render_refcounts(result), shown).text(shown.page);
        CHECK_THAT(narrow, ContainsSubstring("0x7f0000001000") && ContainsSubstring("0x5000;"));
        CHECK_THAT(narrow, !ContainsSubstring("0x7f…") && !ContainsSubstring("0x5…"));
    }
    shown.page.width = 0;
    const Written answer(render_refcounts(result), shown);
    CHECK(
        answer.text(shown.page) ==
        "Self-check: for 90 % of the 10 objects every reference that Python counted was found. 2 references "
        "on "
        "1 object were not found in Python's own memory: C code holds them, or they leaked. For 50 % of "
        "these a word was found that may be the holder.\n"
        "  objects  excess ▾  held by C code  type\n"
        "        1         2               1  app.Function\n"
        "single objects: those first whose holder was not found\n"
        "  address         counted  found  type          value  the rest is held by\n"
        "  0x7f0000001000        3      1  app.Function         <libfoo.so cache+0x10> 0x5000; 1 not found\n"
        "next: heapsift referrers 0x7f0000001000    the references that were found\n");
}

TEST_CASE("render refcounts: a process without a leak gets one sentence", "[cli][render]") {
    Shown shown;
    shown.page.width = 0;
    RefcountsResult result;
    CHECK(Written(render_refcounts(result), shown).text(shown.page) ==
          "This core has none of these that counts its references.\nnext: heapsift types\n");
    result.checked = result.balanced = 10;
    result.counted = result.accounted = 12;
    CHECK(Written(render_refcounts(result), shown).text(shown.page) ==
          "No reference leaked: for all 10 objects every reference that Python counted was found.\n"
          "next: heapsift types\n");
    RefcountRow row;
    row.object.address = Address(0x7f0000001000);
    row.object.type = "app.Function";
    row.object.facts = facts(48, 64, 0, 3);
    row.accounted = 2;
    row.excess = 1;
    row.holders = {{Address(0x5000), "<libfoo.so cache+0x10>", {}}};
    result.rows = {row};
    result.types = {{"app.Function", TypeId(0), 1, 1, 1}};
    result.objects = result.excess = result.explained = 1;
    result.balanced = 9;
    result.accounted = 11;
    CHECK(Written(render_refcounts(result), shown).text(shown.page) ==
          "No reference leaked: for all 10 objects every reference that Python counted was found (1 of 12 in "
          "memory of C code).\n"
          "next: heapsift refcounts --type app.Function    what C code holds, of one type\n");
    CHECK_THAT(Written(render_refcounts(result, true), shown).text(shown.page),
               ContainsSubstring("0x7f0000001000"));
    result.leaked = 1;
    result.explained = 0;
    CHECK_THAT(Written(render_refcounts(result), shown).text(shown.page), !ContainsSubstring("No reference"));
}
