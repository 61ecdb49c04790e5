// Expressions on handmade heaps, and their text.

#include "analysis/expression.h"

#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

Reference item(std::uint64_t target, std::string key) {
    return test::item(target, literal(std::move(key), 1));
}

Reference key(std::uint64_t target, std::string text) {
    return test::key(target, literal(std::move(text), 1));
}

// Modules app and app.sub: in app a cache, in __main__ the same cache under another name, and two objects of
// the same name in a set.
HandmadeHeap modules() {
    HandmadeHeap heap;
    PythonInterpreter interpreter;
    interpreter.modules = Address(0x100);
    heap.interpreters = {interpreter};
    heap.objects = {
        {Address(0x100),
         "dict",
         {},
         {},
         {item(0x110, "'app'"), item(0x120, "'app.sub'"), item(0x130, "'__main__'"),
          item(0x140, "'builtins'")}},
        {Address(0x110), "module", {}, {}, {reference(0x210, ".__dict__")}},
        {Address(0x120), "module", {}, {}, {reference(0x220, ".__dict__")}},
        {Address(0x130), "module", {}, {}, {reference(0x230, ".__dict__")}},
        {Address(0x140), "module", {}, {}, {reference(0x240, ".__dict__")}},
        {Address(0x210),
         "dict",
         {},
         {},
         {item(0x300, "'CACHE'"), item(0x120, "'sub'"), item(0x900, "'gone'")}},
        {Address(0x220), "dict", {}, {}, {item(0x310, "'name'")}},
        {Address(0x230),
         "dict",
         {},
         {},
         {item(0x300, "'kept'"), item(0x310, "'app_name'"), item(0x400, "'node'")}},
        {Address(0x240), "dict", {}, {}, {item(0x310, "'kept'"), item(0x320, "'len'")}},
        {Address(0x300),
         "dict",
         {},
         {},
         {key(0x310, "'k'"), item(0x310, "'k'"), item(0x320, "3"), item(0x330, "(1, 'a')"),
          item(0x340, "'3'"), item(0x350, "'it\\'s'"), item(0x360, "2.5"), item(0x370, "b'x'"),
          item(0x380, "None"), item(0x390, "True"), item(0x3a0, "'kkkk…'"), item(0x3b0, "<app.Key>"),
          item(0x3c0, "'[x'"), item(0x3d0, "-7"), item(0x3e0, "'word two'")}},
        {Address(0x310), "app.A", {}, {}, {}},
        {Address(0x320), "app.B", {}, {}, {}},
        {Address(0x330), "app.A", {}, {}, {}},
        {Address(0x340), "app.A", {}, {}, {}},
        {Address(0x350), "app.A", {}, {}, {}},
        {Address(0x360), "app.A", {}, {}, {}},
        {Address(0x370), "app.A", {}, {}, {}},
        {Address(0x380), "app.A", {}, {}, {}},
        {Address(0x390), "app.A", {}, {}, {}},
        {Address(0x3a0), "app.A", {}, {}, {}},
        {Address(0x3b0), "app.A", {}, {}, {}},
        {Address(0x3c0), "app.A", {}, {}, {}},
        {Address(0x3d0), "app.A", {}, {}, {}},
        {Address(0x3e0), "app.A", {}, {}, {}},
        {Address(0x400),
         "app.Node",
         {},
         {},
         {reference(0x410, ".rows"), reference(0x420, ".rows_of"), reference(0x430, ".<cell x>"),
          reference(0x440, "<+24>"), reference(0x450, ".__closure__[0].cell_contents"),
          reference(0x460, ".gi_frame.f_locals['x']"), reference(0x470, ".__dict__"),
          reference(0x480, ".twice"), reference(0x490, ".twice"), reference(0x410, ".rows")}},
        {Address(0x410),
         "list",
         {},
         {},
         {reference(0x310, "[0]"), reference(0x320, "[1]"), reference(0x330, "[2]")}},
        {Address(0x420), "app.A", {}, {}, {}},
        {Address(0x430), "cell", {}, {}, {}},
        {Address(0x440), "app.A", {}, {}, {}},
        {Address(0x450), "app.A", {}, {}, {}},
        {Address(0x460), "app.A", {}, {}, {}},
        {Address(0x470), "dict", {}, {}, {item(0x320, "'inside'"), item(0x330, "'a b'")}},
        {Address(0x480), "app.B", {}, {}, {}},
        {Address(0x490), "app.A", {}, {}, {reference(0x320, ".only")}},
    };
    return heap;
}

std::vector<std::uint64_t> found(const std::string& text) {
    const HandmadeHeap made = modules();
    const HandmadeReader heap = made.build();
    CHECK(expression_problem(text).empty());
    std::vector<std::uint64_t> addresses;
    for (const ObjectId object : find_expression(heap, text).objects)
        addresses.push_back(heap.snapshot().address_of(object).value);
    return addresses;
}

std::vector<std::uint64_t> only(std::uint64_t address) { return {address}; }

std::string name_of(const std::vector<ReferenceStep>& names) {
    return names.empty() ? "" : notation(names.front());
}

}  // namespace

TEST_CASE("expression: modules, by every prefix of a dotted name", "[analysis][expression]") {
    CHECK(found("app") == only(0x110));
    CHECK(found("app.sub") == only(0x120));  // in sys.modules, and the module app has it
    CHECK(found("app.sub.name") == only(0x310));
    CHECK(found("app.CACHE") == only(0x300));
    CHECK(found("app.__dict__") == only(0x210));
    CHECK(found("app.__dict__['CACHE']") == only(0x300));
    CHECK(found(" app.CACHE ") == only(0x300));
}

TEST_CASE("expression: names in __main__, and of builtins where nothing else has them",
          "[analysis][expression]") {
    CHECK(found("kept") == only(0x300));
    CHECK(found("kept['k']") == only(0x310));
    CHECK(found("len") == only(0x320));
    CHECK(found("app_name") == only(0x310));
}

TEST_CASE("expression: keys by what they mean, however they are written", "[analysis][expression]") {
    for (const char* text : {"kept['k']", "kept[\"k\"]", "kept[k]", "kept[ 'k' ]", "kept['\\x6b']"})
        CHECK(found(text) == only(0x310));
    for (const char* text : {"kept[3]", "kept[ 3 ]", "kept[0x3]", "kept[3.0]"})
        CHECK(found(text) == only(0x320));
    for (const char* text : {"kept[(1,'a')]", "kept[1, 'a']", "kept[(1,a)]", "kept[( 1 , \"a\", )]"})
        CHECK(found(text) == only(0x330));
    CHECK(found("kept['3']") == only(0x340));
    for (const char* text : {"kept['it\\'s']", "kept[\"it's\"]", "kept[it's]"})
        CHECK(found(text) == only(0x350));
    CHECK(found("kept[2.50]") == only(0x360));
    CHECK(found("kept[b\"x\"]") == only(0x370));
    CHECK(found("kept[None]") == only(0x380));
    for (const char* text : {"kept[True]", "kept[1]"}) CHECK(found(text) == only(0x390));
    CHECK(found("kept['[x']") == only(0x3c0));
    CHECK(found("kept[-7]") == only(0x3d0));
    for (const char* text : {"kept['word two']", "kept[word two]"}) CHECK(found(text) == only(0x3e0));
    CHECK(found("kept['none']").empty());
}

TEST_CASE("expression: keys as they are printed, cut or without a literal; keys themselves",
          "[analysis][expression]") {
    CHECK(found("kept['kkkk…']") == only(0x3a0));
    CHECK(found("kept[<app.Key>]") == only(0x3b0));
    CHECK(found("0x300key 'k'") == only(0x310));
    CHECK(found("kept key \"k\"") == only(0x310));
}

TEST_CASE("expression: a name that heapsift prints is followed as it stands", "[analysis][expression]") {
    CHECK(found("node.rows") == only(0x410));
    CHECK(found("node.rows_of") == only(0x420));
    CHECK(found("node.rows_").empty());
    CHECK(found("node.<cell x>") == only(0x430));
    CHECK(found("0x400<+24>") == only(0x440));
    CHECK(found("node.__closure__[0].cell_contents") == only(0x450));
    CHECK(found("node.gi_frame.f_locals['x']") == only(0x460));
    CHECK(found("node.gi_frame.f_locals[x]") == only(0x460));
    CHECK(found("0x400.rows[1]") == only(0x320));
    CHECK(found("node.rows[-1]") == only(0x330));
    CHECK(found("node.rows[-4]").empty());
    CHECK(found("<app.Node object at 0x400>.rows") == only(0x410));
}

TEST_CASE("expression: an attribute is an item of the instance's dict", "[analysis][expression]") {
    CHECK(found("node.inside") == only(0x320));
    CHECK(found("node.__dict__['a b']") == only(0x330));
    CHECK(found("node.__class__").empty());  // the class is no object of this heap
}

TEST_CASE("expression: several references of one name are all answers, unless only one leads on",
          "[analysis][expression]") {
    CHECK(found("node.twice") == std::vector<std::uint64_t>{0x490, 0x480});  // app.A before app.B
    CHECK(found("node.twice.only") == only(0x320));
}

TEST_CASE("expression: what does not fit says how far it got, and what is near", "[analysis][expression]") {
    const HandmadeHeap made = modules();
    const HandmadeReader heap = made.build();
    ExpressionFinding finding = find_expression(heap, "node.rowz[1]");
    CHECK(finding.objects.empty());
    CHECK(finding.understood == "node");
    CHECK(finding.missing == ".rowz");
    REQUIRE(finding.stopped_at.size() == 1);
    CHECK(heap.snapshot().address_of(finding.stopped_at[0]) == Address(0x400));
    CHECK(finding.near_is_guess);
    CHECK(name_of(finding.near) == ".rows");
    finding = find_expression(heap, "app.CACHE[kk]");
    CHECK(finding.understood == "app.CACHE");
    CHECK(finding.missing == "[kk]");
    CHECK(name_of(finding.near) == "['k']");
    finding = find_expression(heap, "app.CACH");
    CHECK(name_of(finding.near) == ".CACHE");
    finding = find_expression(heap, "nobody.rows");
    CHECK(finding.understood.empty());
    CHECK(finding.missing == "nobody");
    finding = find_expression(heap, "app.gone");
    CHECK(finding.lost == std::vector<Address>{Address(0x900)});
}

TEST_CASE("expression: what can be none", "[analysis][expression]") {
    for (const char* text :
         {"", " ", "app.", "app[", "app['x'", "app[]", "f(", "-1", "0x", "0xzz", "0x10000000000000000", "[1]",
          "a-b", "core.1", "<Node object>", "a..b", "thread(1)"})
        CHECK_FALSE(expression_problem(text).empty());
    for (const char* text :
         {"app", "app.CACHE['x']", "f().x[1]", "main.<locals>.inner().x", "<module>().x", "<lambda>()",
          "0x10.x", "0x10key '('", "140581112638464.x", "thread('MainThread').f()", "a[it's]", "käfer"})
        CHECK(expression_problem(text).empty());
}

TEST_CASE("expression: literals", "[analysis][expression]") {
    const auto same = [](const char* a, const char* b) {
        const auto left = whole_literal(a), right = whole_literal(b);
        return left && right && means_the_same(*left, *right);
    };
    CHECK(same("'\\u20ac\\U0001f40d\\n'", "\"€🐍\\x0a\""));
    CHECK(same("b'\\xff'", "b\"\\xff\""));
    CHECK_FALSE(same("b'a'", "'a'"));
    CHECK(same("1237940039285380274899124224", "0x400000000000000000000_00"));
    CHECK(same("-0", "0"));
    CHECK(same("-0.0", "0"));
    CHECK(same("1e3", "1000"));
    CHECK(same("(1+2j)", "1+2.0j"));
    CHECK(same("2j", "0+2j"));
    CHECK(same("...", "Ellipsis"));
    CHECK(same("()", "( )"));
    CHECK(same("(1,)", "1,"));
    CHECK_FALSE(same("(1,)", "1"));
    CHECK_FALSE(same("None", "False"));
    CHECK(same("False", "0"));
    for (const char* text : {"", "x", "'x", "1 2", "(1", "1)", "1.2.3", "''''", "--1"})
        CHECK_FALSE(whole_literal(text));
    CHECK_FALSE(whole_literal(std::string(100000, '(')));
}

TEST_CASE("expression: calls and names, as values are printed", "[analysis][expression]") {
    const auto same = [](const char* a, const char* b) {
        const auto left = whole_literal(a), right = whole_literal(b);
        return left && right && means_the_same(*left, *right);
    };
    CHECK(same("datetime.date(2024, 2, 29)", "date(2024,2,0x1d)"));
    CHECK_FALSE(same("datetime.date(2024, 2, 29)", "date(2024, 2, 28)"));
    CHECK_FALSE(same("datetime.date(2024, 2, 29)", "update(2024, 2, 29)"));
    CHECK(same("Order(id=7, tags=['a'])", "app.Order(id=7, tags=[\"a\"])"));
    CHECK_FALSE(same("Order(id=7)", "Order(7)"));
    CHECK_FALSE(same("Order(id=7)", "Order(number=7)"));
    CHECK(same("Color.RED", "app.Color.RED"));
    CHECK_FALSE(same("Color.RED", "Color.GREEN"));
    CHECK(same("frozenset({1, 'a'})", "frozenset({'a', 1})"));
    CHECK_FALSE(same("frozenset({1, 'a'})", "frozenset({1})"));
    CHECK(same("f({'a': 1})", "f({'a': 1.0})"));
    CHECK(same("make.<locals>.Order(id=1)", "make.<locals>.Order(id=1)"));
    CHECK(
        same("re.compile('a', re.IGNORECASE|re.MULTILINE)", "re.compile(\"a\", re.IGNORECASE|re.MULTILINE)"));
    CHECK(same("Ring(next=<Ring at 0x10>)", "Ring(next=<Ring at 0x10>)"));
    for (const char* text : {"date(", "date(2024", "date(2024,,1)", "date(1 2)", "date)", "a.", "[1",
                             "{1: 2, 3}", "{1, 2: 3}", "<a", "f(x=)"})
        CHECK_FALSE(whole_literal(text));
    for (const char open : {'(', '[', '{', '<'}) CHECK_FALSE(whole_literal(std::string(100000, open)));
    std::string calls;
    for (int i = 0; i < 100000; ++i) calls += "f(";
    CHECK_FALSE(whole_literal(calls));
}
