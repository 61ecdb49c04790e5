// What grew between inventories that are written down, and an inventory of a heap that is.

#include "analysis/growth/growth.h"
#include "analysis/growth/growth_order.h"
#include "analysis/growth/object_marks.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

HeldRow row(std::string type, std::string holder, std::string attribute, std::string place,
            std::uint64_t count, std::uint64_t memory, std::vector<HeldRow::Above> above = {}) {
    HeldRow made;
    made.type = std::move(type);
    made.holder = std::move(holder);
    made.attribute = std::move(attribute);
    made.place = std::move(place);
    made.steps = made.attribute == made.place ? 1 : 2;
    made.kind = above.empty() ? HeldRow::Kind::root : HeldRow::Kind::object;
    made.python_class = made.type.starts_with("app.");
    made.container = made.type == "list" || made.type == "dict";
    made.expression = made.holder + "." + made.attribute;
    made.example = Address(0x1000);
    made.now = {count, memory, memory, 0, 0};
    made.above = std::move(above);
    for (HeldRow::Above& one : made.above)
        if (one.bytes == 0) one.bytes = memory * one.count / count;
    return made;
}

void sum_types(Inventory& core) {
    for (const HeldRow& held : core.held) {
        const auto at = std::find_if(core.types.begin(), core.types.end(),
                                     [&](const NamedAmounts& type) { return type.name == held.type; });
        if (at == core.types.end())
            core.types.push_back({held.type, held.now, {}, 0});
        else
            at->now += held.now;
        core.objects += held.now.count;
    }
}

/// A registry of sessions, each with a graph that has 90 tensors; and a table that stays.
Inventory registry(std::uint64_t sessions, std::uint64_t in_use) {
    Inventory core;
    core.file = "core";
    core.command = core.arguments = "python3 app.py";
    core.python = "CPython 3.11.2";
    core.pid = 7;
    core.modules = {{"python3", Address(0x1000)}, {"libc.so.6", Address(0x5000)}};
    core.in_use = in_use;
    core.held = {row("list", "app", "REGISTRY", "REGISTRY", 1, 100 + 8 * sessions),
                 row("app.Session", "app", "REGISTRY[*]", "REGISTRY", sessions, 50'000 * sessions),
                 row("app.Graph", "app.Session", "graph", "graph", sessions, 64 * sessions, {{1, sessions}}),
                 row("app.Tensor", "app.Graph", "tensors[*]", "tensors", 90 * sessions, 90 * 100 * sessions,
                     {{2, 90 * sessions}}),
                 row("dict", "app", "TABLE", "TABLE", 1, 1'000'000)};
    core.memory = {{"Python objects", in_use, false, false}, {free_row, 1000, true, false}};
    sum_types(core);
    return core;
}

}  // namespace

TEST_CASE("growth: what is below a registry is one growth, with what each unit has", "[growth]") {
    const GrowthResult result = growth({registry(10, 2'000'000), registry(18, 2'500'000)});
    CHECK(result.same_process);
    CHECK(result.same_program);
    REQUIRE(result.cause == GrowthResult::Cause::place);
    const GrownPlace& place = result.places.front();
    CHECK(place.holder == "app");
    CHECK(place.place == "REGISTRY");
    CHECK(place.units == 8);
    CHECK(place.growth == 8 * (8 + 50'000 + 64 + 9'000));
    REQUIRE(place.parts.size() == 4);
    CHECK(place.parts[0].type == "app.Session");
    CHECK(place.parts[1].type == "app.Tensor");
    CHECK(place.parts[1].each == 90);
    CHECK(place.parts[2].type == "app.Graph");
    CHECK(place.parts[2].each == 1);
    CHECK(place.expression == "app.REGISTRY[*]");
    CHECK(result.places.size() == 1);
    CHECK(result.held.size() == 4);
    CHECK(result.whole == 500'000);
    REQUIRE(result.types.size() == 4);
    CHECK(result.types.front().name == "app.Session");
    CHECK(result.types.front().amounts.count_growth() == 8);
}

TEST_CASE("growth: what is held beside the units is not told to be theirs", "[growth]") {
    const auto siblings = [](std::uint64_t count) {
        Inventory core;
        core.held = {row("bytearray", "app", "R[*]", "R", count, 1000 * count),
                     row("app.Conn", "app", "R[*]", "R", count, 100 * count),
                     row("int", "app.Conn", "fd", "fd", count, 32 * count, {{1, count}})};
        sum_types(core);
        return core;
    };
    const GrowthResult result = growth({siblings(10), siblings(1010)});
    REQUIRE(result.places.size() == 1);
    const GrownPlace& place = result.places.front();
    CHECK(place.units == 1000);
    CHECK(place.parts[0].type == "bytearray");
    REQUIRE(place.parts.size() == 3);
    for (std::size_t i = 1; i < 3; ++i) {
        CHECK(place.parts[i].beside);
        CHECK(place.parts[i].each == 0);
    }
}

TEST_CASE("growth: a cut core, another place in memory, another script", "[growth]") {
    Inventory before = registry(10, 2'000'000), after = registry(18, 2'500'000);
    after.modules[1].start = Address(0x9000);
    CHECK_FALSE(growth({before, after}).same_process);
    after = registry(18, 2'500'000);
    after.arguments = "python3";  // as gdb and the kernel write it
    CHECK(growth({before, after}).same_process);
    before.script = "'/srv/app.py'";
    after.script = "'/srv/other.py'";
    CHECK_FALSE(growth({before, after}).same_program);
    after.script = "'/srv/20260218/app.py'";
    before.script = "'/srv/20260101/app.py'";
    CHECK(growth({before, after}).same_program);
    after.script = before.script;
    after.cut = true;
    after.native = {{"", 3000, 2343, 7'029'000, 2000, "", Address()}};
    after.memory.push_back({c_code_row, 7'100'000, false, true});
    const GrowthResult result = growth({before, after});
    CHECK(result.cut);
    CHECK_FALSE(result.same_process);
    CHECK(result.cause == GrowthResult::Cause::place);  // what owns the blocks may be missing
}

TEST_CASE("growth: tracemalloc's own tables are no growth of C code", "[growth]") {
    Inventory before = registry(10, 2'000'000), after = registry(18, 9'000'000);
    before.traced = after.traced = true;
    before.lines.push_back({"app.py", {1000, 10, 10, 0, 0}, {}, 7});
    after.lines.push_back({"app.py", {61'000, 10, 10, 0, 0}, {}, 7});
    after.native = {{"", 48, 60'000, 6'000'000, 0, "", Address()}};
    after.memory.push_back({c_code_row, 6'000'000, false, true});
    CHECK(growth({before, after}).cause == GrowthResult::Cause::place);
    CHECK(growth({before, after}).lines.front().amounts.count_growth() == 60'000);
}

TEST_CASE("growth: a number that is no multiple is not told of each", "[growth]") {
    Inventory after = registry(18, 2'500'000);
    after.held[3].now.count += 1;
    after.held[3].above.front().count += 1;
    after.types.clear();
    sum_types(after);
    const GrowthResult result = growth({registry(10, 2'000'000), after});
    CHECK(result.places.front().parts[1].each == 0);
    CHECK(result.places.front().parts[1].count == 721);
}

TEST_CASE("growth: nothing, where too little grew, and where objects are only held elsewhere", "[growth]") {
    CHECK(growth({registry(10, 2'000'000), registry(10, 2'000'000)}).cause == GrowthResult::Cause::nothing);
    Inventory before = registry(100, 9'000'000), after = before;
    after.held[1].holder = "other";  // the same sessions, by another path
    const GrowthResult moved = growth({before, after});
    CHECK(moved.cause == GrowthResult::Cause::nothing);
    CHECK(moved.places.empty());
    CHECK(moved.held.size() == 2);
}

TEST_CASE("growth: a chain of equals is the growth of what holds the first one", "[growth]") {
    const auto chain = [](std::uint64_t links) {
        Inventory core;
        core.in_use = 1'000'000;
        core.held = {
            row("app.Link", "app", "FIRST", "FIRST", 1, 100),
            row("app.Link", "app.Link", "next", "next", links, 1000 * links, {{1, links - 1}, {0, 1}}),
            row("bytes", "app.Link", "payload", "payload", links + 1, 500 * (links + 1),
                {{1, links}, {0, 1}})};
        sum_types(core);
        return core;
    };
    const GrowthResult result = growth({chain(100), chain(1100)});
    REQUIRE(result.cause == GrowthResult::Cause::place);
    CHECK(result.places.front().place == "FIRST");
    CHECK(result.places.front().units == 1000);
    CHECK(result.places.front().parts.front().type == "app.Link");
    CHECK(result.places.front().parts[1].each == 1);
}

namespace {

/// Two pools of one class; each entry has names, of 10 bytes in the one pool and of 1,000 in the other, and a node
/// with a text.
Inventory pools(std::uint64_t a, std::uint64_t b, std::uint64_t names_of_b = 10) {
    Inventory core;
    core.in_use = 1'000'000;
    const std::uint64_t all = a + b, names = 10 * a + names_of_b * b;
    core.held = {row("app.Entry", "app", "POOL_A[*]", "POOL_A", a, 50 * a),
                 row("app.Entry", "app", "POOL_B[*]", "POOL_B", b, 50 * b),
                 row("str", "app.Entry", "names[*]", "names", names, 10 * 10 * a + 1000 * names_of_b * b,
                     {{0, 10 * a, 10 * 10 * a}, {1, names_of_b * b, 1000 * names_of_b * b}}),
                 row("app.Node", "app.Entry", "node", "node", all, 80 * all, {{0, a}, {1, b}}),
                 row("bytes", "app.Node", "text", "text", all, 300 * all, {{3, all}})};
    sum_types(core);
    return core;
}

const GrownPlace& place_named(const GrowthResult& result, const char* name) {
    const auto at = std::find_if(result.places.begin(), result.places.end(),
                                 [&](const GrownPlace& place) { return place.place == name; });
    REQUIRE(at != result.places.end());
    return *at;
}

std::int64_t grown_of(const GrownPlace& place, const char* type) {
    for (const GrownPlace::Part& part : place.parts)
        if (part.type == type) return part.count;
    return 0;
}

}  // namespace

TEST_CASE("growth: what one class holds in two places is divided among them", "[growth]") {
    const GrowthResult both = growth({pools(100, 200), pools(700, 600)});
    REQUIRE(both.places.size() == 2);
    const GrownPlace &a = place_named(both, "POOL_A"), &b = place_named(both, "POOL_B");
    CHECK(a.units == 600);
    CHECK(a.growth == 600 * (50 + 10 * 10 + 80 + 300));
    CHECK(grown_of(a, "bytes") == 600);
    CHECK(b.units == 400);
    CHECK(b.growth == 400 * (50 + 10 * 1000 + 80 + 300));
    CHECK(b.bytes == std::vector<std::uint64_t>{200 * 10'430, 600 * 10'430});
    for (const GrownPlace* place : {&a, &b}) {
        REQUIRE(place->parts.size() == 4);
        for (const GrownPlace::Part& part : place->parts) CHECK(part.each == (part.type == "str" ? 10 : 1));
    }
}

TEST_CASE("growth: a place that shrinks hides none that grows, and none grows that did not", "[growth]") {
    const GrowthResult moved = growth({pools(500, 100), pools(200, 600)});
    REQUIRE(moved.places.size() == 1);
    CHECK(moved.places[0].place == "POOL_B");
    CHECK(moved.places[0].units == 500);
    CHECK(grown_of(moved.places[0], "str") == 5000);
    CHECK(grown_of(moved.places[0], "bytes") == 500);
    // Of three cores: the one grew in each step, the other once.
    const GrowthResult steps = growth({pools(100, 100), pools(300, 500), pools(700, 500)});
    CHECK(place_named(steps, "POOL_A").steady);
    CHECK_FALSE(place_named(steps, "POOL_B").steady);
    CHECK(place_named(steps, "POOL_B").bytes.back() == 500 * 10'430);
}

TEST_CASE("growth: what was added to owners that were there stays with these", "[growth]") {
    const GrowthResult result = growth({pools(100, 100, 10), pools(100, 100, 90)});
    REQUIRE(result.places.size() == 1);
    CHECK(result.places[0].holder == "app.Entry");
    CHECK(result.places[0].place == "names");
    CHECK(result.places[0].units == 8000);
}

TEST_CASE("growth: trees of equals are divided among what holds their roots", "[growth]") {
    const auto trees = [](std::uint64_t a, std::uint64_t b) {  // roots with 7 nodes below each
        Inventory core;
        const std::uint64_t all = a + b;
        core.held = {row("app.Node", "app", "A[*]", "A", a, 100 * a),
                     row("app.Node", "app", "B[*]", "B", b, 100 * b),
                     row("app.Node", "app.Node", "left", "left", 4 * all, 400 * all,
                         {{0, a}, {1, b}, {2, 2 * all}, {3, all}}),
                     row("app.Node", "app.Node", "right", "right", 3 * all, 300 * all, {{2, 3 * all}})};
        sum_types(core);
        return core;
    };
    const GrowthResult result = growth({trees(1000, 1000), trees(4000, 2000)});
    CHECK(place_named(result, "A").growth == 3000 * 800);
    CHECK(place_named(result, "B").growth == 1000 * 800);
    CHECK(grown_of(place_named(result, "A"), "app.Node") == 3000);
}

TEST_CASE("growth: rows of the same words are told apart by what they are within", "[growth]") {
    const auto servers = [](std::uint64_t http, std::uint64_t db) {
        Inventory core;
        core.held = {row("app.Pool", "app.Server", "http", "http", 1, 64),
                     row("app.Pool", "app.Server", "db", "db", 1, 64),
                     row("app.Entry", "app.Pool", "items[*]", "items", http, 1000 * http, {{0, http}}),
                     row("app.Entry", "app.Pool", "items[*]", "items", db, 1000 * db, {{1, db}})};
        core.held[2].within = 0;
        core.held[2].expression = "app.server.http.items[*]";
        core.held[3].within = 1;
        core.held[3].expression = "app.server.db.items[*]";
        sum_types(core);
        return core;
    };
    const GrowthResult result = growth({servers(100, 500), servers(900, 200)});
    REQUIRE(result.places.size() == 1);
    CHECK(result.places[0].units == 800);
    CHECK(result.places[0].expression == "app.server.http.items[*]");
    REQUIRE(result.held.size() == 1);  // by words
    CHECK(result.held[0].amounts.count_growth() == 500);
    CHECK(result.held[0].row.expression == "app.server.http.items[*]");
    CHECK(growth({servers(100, 500), servers(900, 700)}).places[0].units == 1000);
}

TEST_CASE("growth: of one process, what moved is no growth, and what came for others that went is",
          "[growth]") {
    const auto lists = [](std::uint64_t queue, std::uint64_t done, std::uint64_t failed,
                          std::uint64_t fresh_of_done) {
        Inventory core = registry(10, 2'000'000);
        core.held = {row("app.Job", "app.Server", "queue[*]", "queue", queue, 1000 * queue),
                     row("app.Job", "app.Server", "done[*]", "done", done, 1000 * done),
                     row("app.Job", "app.Server", "failed[*]", "failed", failed, 1000 * failed)};
        core.held[1].appeared = fresh_of_done;
        core.held[2].appeared = failed;
        core.types.clear();
        sum_types(core);
        return core;
    };
    const Inventory before = lists(10'000, 0, 0, 0);
    Inventory after = lists(0, 10'000, 500, 0);
    const GrowthResult unknown = growth({before, after});
    CHECK(unknown.moved > 9'999'990);
    REQUIRE(unknown.moved_to);
    CHECK(unknown.moved_to->row.place == "done");
    CHECK(unknown.may_have_moved());
    after.compared = true;
    const GrowthResult known = growth({before, after});
    CHECK(known.moved == 10'000'000);
    REQUIRE(known.places.size() == 1);
    CHECK(known.places[0].place == "failed");
    CHECK(known.places[0].units == 500);
    after = lists(8'000, 5'000, 0, 0);  // the queue was filled again
    after.held[0].appeared = 3'000;
    after.compared = true;
    const GrowthResult refilled = growth({before, after});
    REQUIRE(refilled.places.size() == 1);
    CHECK(refilled.places[0].place == "done");
    CHECK(refilled.places[0].units == 5'000);
    CHECK(refilled.places[0].believed == 3'000'000);
    after = lists(10'000, 5'000, 0, 3'000);  // 2,000 had another holder before
    after.held[1].now.count = 5'000;
    after.types = before.types;
    after.types[0].now.count += 3'000;
    after.types[0].now.memory += 3'000'000;
    after.compared = true;
    const GrowthResult held_twice = growth({before, after});
    REQUIRE(held_twice.places.size() == 1);
    CHECK(held_twice.places[0].growth == 5'000'000);  // as far as rows tell, all are more
    after = lists(0, 9'000, 0, 9'000);                // others
    CHECK(growth({before, after}).places.empty());
    after.compared = true;
    const GrowthResult others = growth({before, after});
    REQUIRE(others.cause == GrowthResult::Cause::place);
    CHECK(others.places[0].place == "done");
    CHECK(others.places[0].growth == 9'000'000);
}

TEST_CASE("growth: rows that lead in a circle have an end", "[growth]") {
    const auto circle = [](std::uint64_t count) {
        Inventory core;
        core.held = {row("app.A", "app.B", "a", "a", count, 10'000 * count, {{1, count}}),
                     row("app.B", "app.A", "b", "b", count, 10'000 * count, {{0, count}})};
        sum_types(core);
        return core;
    };
    const GrowthResult result = growth({circle(1), circle(100)});
    CHECK(result.cause == GrowthResult::Cause::place);
    CHECK(result.places.front().units == 99);
}

TEST_CASE("growth: larger objects, and no more of them", "[growth]") {
    Inventory before = registry(10, 2'000'000), after = before;
    after.held[4].now.memory += 3'000'000;
    after.types.clear();
    sum_types(after);
    const GrowthResult result = growth({before, after});
    REQUIRE(result.cause == GrowthResult::Cause::place);
    CHECK(result.places.front().place == "TABLE");
    CHECK(result.places.front().units == 0);
}

TEST_CASE("growth: what C types hold without a name is told by what holds their object", "[growth]") {
    const auto buffer = [](std::uint64_t bytes) {
        Inventory core;
        core.held = {row("bytearray", "app", "BUFFER", "BUFFER", 1, 64),
                     row("bytes", "bytearray", "<bytes>", "", 1, bytes, {{0, 1}})};
        sum_types(core);
        return core;
    };
    const GrowthResult result = growth({buffer(1000), buffer(1'000'000)});
    CHECK(result.places.front().place == "BUFFER");
    CHECK(result.places.front().parts.front().type == "bytearray");
}

TEST_CASE("growth: of three cores, what grew each time comes first; usual caches come last", "[growth]") {
    std::vector<Inventory> cores{registry(10, 2'000'000), registry(11, 2'100'000), registry(12, 2'200'000)};
    const auto add = [&](std::size_t core, const char* holder, const char* place, std::uint64_t memory) {
        cores[core].held.push_back(row("str", holder, place, place, memory / 100, memory));
    };
    add(1, "app", "ONCE", 900'000);
    add(2, "app", "ONCE", 900'000);
    add(1, "linecache", "cache", 800'000);
    add(2, "linecache", "cache", 1'900'000);
    for (Inventory& core : cores) {
        core.types.clear();
        sum_types(core);
    }
    const GrowthResult result = growth(cores);
    REQUIRE(result.places.size() == 3);
    CHECK(result.places[0].place == "REGISTRY");
    CHECK(result.places[1].place == "ONCE");
    CHECK_FALSE(result.places[1].steady);
    CHECK(result.places[2].usual);
}

TEST_CASE("growth: names that a program makes up are one place; so are several of each instance",
          "[growth]") {
    const auto named = [](std::size_t names, std::uint64_t under_each) {
        Inventory core = registry(10, 2'000'000);
        for (std::size_t i = 0; i < names; ++i) {
            const std::string name = "k" + std::to_string(i);
            const auto made = static_cast<std::uint32_t>(core.held.size());
            core.held.push_back(row("app.Job", "app.Cache", name, name, under_each, 10'000 * under_each));
            core.held.back().kind = HeldRow::Kind::object;
            core.held.push_back(
                row("str", "app.Job", "name", "name", under_each, 50 * under_each, {{made, under_each}}));
        }
        core.types.clear();
        sum_types(core);
        return core;
    };
    const GrowthResult many = growth({named(0, 1), named(100, 1)});
    REQUIRE(many.places.size() == 1);
    CHECK(many.places[0].holder == "app.Cache");
    CHECK(many.places[0].place == "*");
    CHECK(many.places[0].names.size() == 100);
    CHECK(many.places[0].names.front() == "k0");
    CHECK(many.places[0].units == 100);
    CHECK(many.places[0].growth == 100 * 10'050);
    CHECK(many.places[0].bytes == std::vector<std::uint64_t>{0, 100 * 10'050});
    const GrowthResult two = growth({named(0, 1), named(2, 1)});
    REQUIRE(two.places.size() == 1);  // as much under the one as under the other
    CHECK(two.places[0].names == std::vector<std::string>{"k0", "k1"});
    const GrowthResult on_each = growth({named(9, 10), named(9, 1000)});  // on each instance
    REQUIRE(on_each.places.size() == 1);
    CHECK(on_each.places[0].names.size() == 9);
    CHECK(on_each.places[0].units == 9 * 990);
}

TEST_CASE("growth: in another order", "[growth]") {
    GrowthResult result = growth({registry(10, 2'000'000), registry(18, 2'500'000)});
    result.types.front().retained = {std::nullopt, 7};
    const auto first = [&](GrowthSort sort) {
        GrowthResult copy = result;
        order_growth(copy, sort);
        return copy.types.front().name;
    };
    CHECK(first(GrowthSort::growth) == "app.Session");
    CHECK(first(GrowthSort::count) == "app.Tensor");
    CHECK(first(GrowthSort::name) == "app.Graph");
    CHECK(first(GrowthSort::retained) == "app.Session");
    order_growth(result, GrowthSort::count);
    CHECK(result.held.front().row.type == "app.Tensor");
    CHECK(result.places.front().place == "REGISTRY");
    order_growth(result, GrowthSort::name);
    CHECK(result.memories.front().name == "Python objects");
}

TEST_CASE("growth: blocks of C code, and what is free", "[growth]") {
    Inventory before = registry(10, 2'000'000), after = registry(10, 9'000'000);
    before.memory.push_back({c_code_row, 100'000, false, true});
    after.memory.push_back({c_code_row, 7'100'000, false, true});
    before.native = {{"", 3000, 10, 30'000, 0, "", Address()}};
    after.native = {{"", 3000, 2343, 7'029'000, 2000, "", Address()},
                    {"Widget", 3000, 2343, 7'029'000, 2000, "", Address()}};
    GrowthResult result = growth({before, after});
    REQUIRE(result.cause == GrowthResult::Cause::native);
    CHECK(result.natives.front().now.of_class == "Widget");
    REQUIRE(result.native_causes.size() == 1);
    CHECK(result.native_causes.front().now.of_class == "Widget");
    for (HeldRow& held : after.held) held.now.native = held.type == "app.Session" ? 7'000'000 : 0;
    result = growth({before, after});
    CHECK(result.cause != GrowthResult::Cause::native);  // the sessions own it

    Inventory freed = registry(10, 9'000'000);
    freed.memory[1].bytes = 7'000'000;
    freed.memory[0].bytes = 2'000'000;
    CHECK(growth({before, freed}).cause == GrowthResult::Cause::memory);
}

TEST_CASE("growth: other programs are said to be others", "[growth]") {
    Inventory other = registry(10, 2'000'000);
    other.arguments = "python3 other.py";
    const GrowthResult result = growth({registry(10, 2'000'000), other});
    CHECK_FALSE(result.same_program);
    CHECK_FALSE(result.same_process);
}

TEST_CASE("inventory: each object is in one row, with the rows of the owners", "[growth]") {
    HandmadeHeap heap;
    heap.objects = {
        {Address(0x10000),
         "list",
         facts(56, 64, 0, 1),
         {},
         {reference(0x10100, "[0]"), reference(0x10200, "[1]")}},
        {Address(0x10100), "app.Job", facts(48, 1000, 0, 1), {}, {reference(0x10300, ".name")}},
        {Address(0x10200), "app.Job", facts(48, 1000, 0, 1), {}, {reference(0x10400, ".name")}},
        {Address(0x10300), "str", facts(50, 200, 0, 1), {}, {}},
        {Address(0x10400), "str", facts(50, 200, 0, 1), {}, {}},
        {Address(0x10500), "app.Lost", facts(50, 300, 0, 1), {}, {reference(0x10600, ".x")}},
        {Address(0x10600), "app.Lost", facts(50, 300, 0, 1), {}, {reference(0x10500, ".x")}},
    };
    Reference native = reference(0x10000, "<block of C code>", ReferenceKind::native);
    native.word = Address(0x80000);
    heap.natives.push_back(native);
    heap.memory = {{"Python objects", 3064}, {free_row, 10}, {c_code_row, 5}};
    const HandmadeReader reader = heap.build();
    Work work(reader);
    const Inventory core = take_inventory(work);
    CHECK(core.objects == 7);
    CHECK(core.in_use == 3079);
    Amounts all;
    for (const HeldRow& held : core.held) all += held.now;
    CHECK(all.count == 7);
    CHECK(all.memory == 3064);
    const auto find = [&](const char* type) {
        return std::find_if(core.held.begin(), core.held.end(),
                            [&](const HeldRow& held) { return held.type == type; });
    };
    CHECK(find("str")->holder == "app.Job");
    CHECK(find("str")->attribute == "name");
    std::uint64_t jobs = 0, names = 0;
    for (const HeldRow& held : core.held) {
        if (held.type == "app.Job") jobs += held.now.count;
        if (held.type != "str") continue;
        for (const HeldRow::Above& above : held.above) {
            CHECK(core.held[above.row].type == "app.Job");
            names += above.count;
        }
    }
    CHECK(jobs == 2);
    CHECK(names == 2);
    CHECK(find("app.Lost")->kind == HeldRow::Kind::garbage);
    CHECK(find("app.Lost")->now.count == 2);
    CHECK(find("list")->kind == HeldRow::Kind::native);

    EarlierObjects before{{object_marks(reader)}};
    before.cores.front().erase(before.cores.front().begin() + 1);  // the first job was not there
    const Inventory again = take_inventory(work, core_identity(reader), &before);
    CHECK(again.kept == 6);
    CHECK(again.appeared == 1);
}
