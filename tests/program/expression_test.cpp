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
