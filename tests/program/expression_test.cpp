// Expressions looked up in a program: globals, items, attributes, locals; and how far one got that leads
// nowhere.

#include "analysis/expression.h"

#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <fmt/format.h>

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct Shop {
    ProgramHeap program;
    Address node, price, rows, local;

    Shop() {
        const Address type = program.python_class("Node", {"value", "next"});
        price = program.heap.real(4.5);
        node = program.instance(type, {price});
        rows = program.list({program.heap.str("first"), node});
        local = program.list({});
        program.module("shop", "/srv/shop/__init__.py", {});
        program.module(
            "shop.stock", "/srv/shop/stock.py",
            {{"CACHE", program.dict({{"rows", rows}, {"empty", program.list({})}})}, {"Node", type}});
        program.call("main", {{"local", local}});
    }
};

}  // namespace

TEST_CASE("expressions: lead from a module through items and attributes to the very object",
          "[program][expressions]") {
    Shop shop;
    const Analysed analysed(shop.program);
    const auto finds = [&](const std::string& text) {
        INFO(text);
        return find_expression(analysed.heap, text).objects;
    };
    CHECK(finds("shop.stock.CACHE['rows']") == std::vector{analysed.id(shop.rows)});
    CHECK(finds("shop.stock.CACHE['rows'][1]") == std::vector{analysed.id(shop.node)});
    CHECK(finds("shop.stock.CACHE['rows'][-1]") == std::vector{analysed.id(shop.node)});
    CHECK(finds("shop.stock.CACHE['rows'][1].value") == std::vector{analysed.id(shop.price)});
    CHECK(finds("main().local") == std::vector{analysed.id(shop.local)});
    CHECK(finds(fmt::format("{:#x}.value", shop.node.value)) == std::vector{analysed.id(shop.price)});
}

TEST_CASE("expressions: one that leads nowhere says what it understood, and what is near",
          "[program][expressions]") {
    Shop shop;
    const Analysed analysed(shop.program);
    const ExpressionFinding key = find_expression(analysed.heap, "shop.stock.CACHE['row'][1]");
    CHECK(key.objects.empty());
    CHECK(key.understood == "shop.stock.CACHE");
    CHECK(key.missing == "['row']");
    CHECK(key.near_is_guess);
    REQUIRE_FALSE(key.near.empty());
    CHECK(notation(key.near[0]) == "['rows']");
    const ExpressionFinding beyond = find_expression(analysed.heap, "shop.stock.CACHE['empty'][0]");
    CHECK(beyond.objects.empty());
    CHECK(beyond.understood == "shop.stock.CACHE['empty']");
    const ExpressionFinding module = find_expression(analysed.heap, "shopping.stock");
    CHECK(module.objects.empty());
    CHECK(module.understood.empty());
    const ExpressionFinding local = find_expression(analysed.heap, "main().locale");
    CHECK(local.is_frame);
    CHECK(local.missing == ".locale");
}

TEST_CASE("expressions: a key is found by what it means, whatever its type and how it is written",
          "[program][expressions]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    std::vector<Address> values;
    const auto value = [&] { return values.emplace_back(program.list({})); };
    const Address key = program.instance(program.python_class("Key", {"value"}));
    program.module("app", "/srv/app/app.py",
                   {{"KEPT", program.dict_of({{heap.str("k"), value()},
                                              {heap.integer(3), value()},
                                              {heap.integer(-7), value()},
                                              {heap.integer_of_digits({0, 0, 1U << 10}), value()},
                                              {heap.real(2.5), value()},
                                              {heap.bytes("x"), value()},
                                              {heap.none(), value()},
                                              {heap.tuple({heap.integer(1), heap.str("a")}), value()},
                                              {heap.str32(U"\u00e9\U0001f40d"), value()},
                                              {heap.boolean(true), value()},
                                              {key, value()}})}});
    const Analysed analysed(program);
    const auto finds = [&](const std::string& text, std::size_t expected) {
        INFO(text);
        CHECK(find_expression(analysed.heap, text).objects == std::vector{analysed.id(values[expected])});
    };
    const auto finds_nothing = [&](const std::string& text) {
        INFO(text);
        CHECK(find_expression(analysed.heap, text).objects.empty());
    };
    for (const char* text : {"app.KEPT['k']", "app.KEPT[\"k\"]", "app.KEPT[k]"}) finds(text, 0);
    for (const char* text : {"app.KEPT[3]", "app.KEPT[3.0]", "app.KEPT[0x3]"}) finds(text, 1);
    for (const char* text : {"app.KEPT[-7]", "app.KEPT[-7.0]"}) finds(text, 2);
    for (const char* text : {"app.KEPT[1180591620717411303424]", "app.KEPT[1180591620717411303424.0]"})
        finds(text, 3);
    finds("app.KEPT[2.5]", 4);
    finds("app.KEPT[b'x']", 5);
    finds("app.KEPT[None]", 6);
    for (const char* text : {"app.KEPT[(1,'a')]", "app.KEPT[1, \"a\"]", "app.KEPT[(True, a)]"})
        finds(text, 7);
    for (const char* text : {"app.KEPT['é🐍']", "app.KEPT['\\xe9\\U0001f40d']"}) finds(text, 8);
    for (const char* text : {"app.KEPT[True]", "app.KEPT[1]"}) finds(text, 9);
    finds(fmt::format("app.KEPT[<app.Key at {:#x}>]", key.value), 10);  // as it is printed
    for (const char* text : {"app.KEPT['3']", "app.KEPT[7]", "app.KEPT[2.25]", "app.KEPT[b'y']",
                             "app.KEPT[b'']", "app.KEPT[(1,)]", "app.KEPT[(2,'a')]", "app.KEPT['é']",
                             "app.KEPT[-1]", "app.KEPT[1180591620717411303425]"})
        finds_nothing(text);
}

TEST_CASE("expressions: an index counts from either end, and ends where the items do",
          "[program][expressions]") {
    ProgramHeap program;
    const Address first = program.list({}), last = program.list({});
    const Address none = program.heap.none();
    program.module(
        "app", "/srv/app/app.py",
        {{"ROWS", program.list({first, none, last})}, {"PAIR", program.heap.tuple({first, last})}});
    const Analysed analysed(program);
    for (const char* text : {"app.ROWS[0]", "app.ROWS[-3]", "app.PAIR[0]", "app.PAIR[-2]"}) {
        INFO(text);
        CHECK(find_expression(analysed.heap, text).objects == std::vector{analysed.id(first)});
    }
    for (const char* text : {"app.ROWS[2]", "app.ROWS[-1]", "app.PAIR[1]", "app.PAIR[-1]"}) {
        INFO(text);
        CHECK(find_expression(analysed.heap, text).objects == std::vector{analysed.id(last)});
    }
    for (const char* text : {"app.ROWS[3]", "app.ROWS[-4]", "app.PAIR[2]", "app.PAIR[-3]",
                             "app.ROWS['first']", "app.ROWS[4294967296]"}) {
        INFO(text);
        CHECK(find_expression(analysed.heap, text).objects.empty());
    }
}

namespace {

/// An instance with attributes of its own, of a class with a base: both have a `limit`.
struct Classes {
    ProgramHeap program;
    Address own_limit, base_limit, table, rows, base, type, node;

    Classes() {
        own_limit = program.list({});
        base_limit = program.list({});
        table = program.dict({});
        rows = program.list({});
        base = program.class_with("Base", {.members = {{"limit", base_limit}, {"table", table}}});
        type = program.class_with("Node",
                                  {.base = base, .attributes = {"rows"}, .members = {{"limit", own_limit}}});
        node = program.instance_with(type, {rows});
        program.module("app", "/srv/app/app.py", {{"Base", base}, {"Node", type}, {"NODE", node}});
    }
};

}  // namespace

TEST_CASE("expressions: an attribute is looked for in the instance, its class and the bases of that",
          "[program][expressions]") {
    Classes made;
    const Analysed analysed(made.program);
    const auto finds = [&](const std::string& text, Address expected) {
        INFO(text);
        CHECK(find_expression(analysed.heap, text).objects == std::vector{analysed.id(expected)});
    };
    finds("app.NODE.rows", made.rows);
    finds("app.NODE.__dict__['rows']", made.rows);  // there is no dict: the values lie in the instance
    finds("app.NODE.limit", made.own_limit);
    finds("app.NODE.table", made.table);
    finds("app.NODE.__class__", made.type);
    finds("app.NODE.__class__.limit", made.own_limit);
    finds("app.Node.limit", made.own_limit);
    finds("app.Node.table", made.table);
    finds("app.Base.limit", made.base_limit);
    finds("app.Base.__dict__['limit']", made.base_limit);
    CHECK(find_expression(analysed.heap, "app.Node.__dict__['table']").objects.empty());  // its base's
    CHECK(find_expression(analysed.heap, "app.Node.rows").objects.empty());
    CHECK(find_expression(analysed.heap, "app.NODE.__dict__[0]").objects.empty());
}

TEST_CASE("expressions: of a mistyped attribute those are near that the class has, its bases' too",
          "[program][expressions]") {
    Classes made;
    const Analysed analysed(made.program);
    const auto near = [&](const std::string& text) {
        const ExpressionFinding finding = find_expression(analysed.heap, text);
        CHECK(finding.objects.empty());
        CHECK(finding.understood == "app.NODE");
        CHECK(finding.near_is_guess);
        return finding.near.empty() ? "" : notation(finding.near.front());
    };
    CHECK(near("app.NODE.row") == ".rows");
    CHECK(near("app.NODE.limits") == ".limit");
    CHECK(near("app.NODE.tabel") == ".table");
}

TEST_CASE("expressions: a local that an inner function shares is what its cell holds",
          "[program][expressions]") {
    ProgramHeap program;
    const Address total = program.list({}), cell = program.cell(total), empty = program.cell(Address()),
                  plain = program.list({});
    program.module("app", "/srv/app/app.py", {});
    program.call("main", {});
    program.call("work", {{"total", cell}, {"unbound", empty}, {"plain", plain}});
    const Analysed analysed(program);
    const auto finds = [&](const std::string& text, Address expected) {
        INFO(text);
        CHECK(find_expression(analysed.heap, text).objects == std::vector{analysed.id(expected)});
    };
    for (const char* text : {"work().total", "work().f_locals['total']", "work().f_locals[total]"})
        finds(text, total);
    for (const char* text : {"work().<cell total>", "work() local 'total'"}) finds(text, cell);
    for (const char* text : {"work().plain", "work().f_locals['plain']", "work() local 'plain'"})
        finds(text, plain);
    finds("work().<cell unbound>", empty);
    CHECK(find_expression(analysed.heap, "work().unbound").objects.empty());
    const auto code = find_expression(analysed.heap, "work().f_code").objects;
    REQUIRE(code.size() == 1);
    CHECK(find_expression(analysed.heap, "work() <code>").objects == code);
    const ExpressionFinding finding = find_expression(analysed.heap, "work().totall");
    CHECK(finding.is_frame);
    REQUIRE_FALSE(finding.near.empty());
    CHECK(notation(finding.near.front()) == ".total");
    for (const ReferenceStep& near : find_expression(analysed.heap, "work().unbound").near)
        CHECK(notation(near) != ".unbound");  // it would lead nowhere again
}

TEST_CASE("expressions: the body of a module has its names in a dict", "[program][expressions]") {
    ProgramHeap program;
    const Address rows = program.list({}), names = program.dict({{"rows", rows}});
    program.module("app", "/srv/app/app.py", {});
    program.run_body("<module>", names);
    const Analysed analysed(program);
    CHECK(find_expression(analysed.heap, "<module>().rows").objects == std::vector{analysed.id(rows)});
    CHECK(find_expression(analysed.heap, "<module>().f_locals['rows']").objects ==
          std::vector{analysed.id(rows)});
    CHECK(find_expression(analysed.heap, "<module>().f_locals").objects == std::vector{analysed.id(names)});
    CHECK(find_expression(analysed.heap, "<module>().row").objects.empty());
}

TEST_CASE("expressions: a function that several threads run is told apart by the thread, by name or number",
          "[program][expressions]") {
    ProgramHeap program;
    const Address of_main = program.list({}), of_worker = program.list({});
    program.module("app", "/srv/app/app.py", {});
    program.call("Pool.run", {{"rows", of_main}});
    program.start_thread("worker");
    program.call("Pool.run", {{"rows", of_worker}});
    const Analysed analysed(program);
    const auto finds = [&](const std::string& text) {
        INFO(text);
        return find_expression(analysed.heap, text).objects;
    };
    CHECK(finds("Pool.run().rows").size() == 2);
    CHECK(finds("run().rows").size() == 2);
    CHECK(finds("ool.run().rows").empty());
    for (const char* text :
         {"thread('worker').Pool.run().rows", "thread(worker).run().rows", "thread(101).Pool.run().rows"})
        CHECK(finds(text) == std::vector{analysed.id(of_worker)});
    for (const char* text : {"thread('MainThread').Pool.run().rows", "thread(100).run().rows",
                             "thread(139638282147392).run().rows"})
        CHECK(finds(text) == std::vector{analysed.id(of_main)});
    CHECK(finds("thread('worker2').Pool.run().rows").empty());
    CHECK(finds("thread(7).Pool.run().rows").empty());  // a thread that is not there
    CHECK(finds("thread('worker')").empty());
    const ExpressionFinding unknown = find_expression(analysed.heap, "Pool.runn().rows");
    CHECK(unknown.understood.empty());
    REQUIRE_FALSE(unknown.near.empty());
    CHECK(notation(unknown.near.front()) == "Pool.run()");
}

TEST_CASE("expressions: a suspended generator has its locals, those that it shares too",
          "[program][expressions]") {
    ProgramHeap program;
    const Address item = program.list({}), shared = program.list({}), cell = program.cell(shared);
    const Address generator = program.generator("produce", {{"item", item}, {"shared", cell}});
    program.module("app", "/srv/app/app.py", {{"SOURCE", generator}});
    const Analysed analysed(program);
    const auto finds = [&](const std::string& text, Address expected) {
        INFO(text);
        CHECK(find_expression(analysed.heap, text).objects == std::vector{analysed.id(expected)});
    };
    const std::string typed = fmt::format("generator({:#x})", generator.value);
    finds(typed, generator);
    finds(typed + ".item", item);
    finds(typed + ".shared", shared);
    finds("app.SOURCE.gi_frame.f_locals['item']", item);
    finds("app.SOURCE.gi_frame.f_locals['shared']", shared);
    finds("app.SOURCE.gi_frame.f_locals[shared]", shared);
    CHECK(find_expression(analysed.heap, fmt::format("generator({:#x}).item", item.value)).objects.empty());
    CHECK(find_expression(analysed.heap, "generator(0x10).item").objects.empty());
}
