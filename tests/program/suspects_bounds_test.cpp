// What the program's code says of how much a container may have. The program is a 3.13: instructions are its.

#include "analysis/suspects/bounds.h"
#include "analysis/suspects/suspects.h"

#include "parsers/cpython/build/instructions.h"
#include "tests/catch.h"
#include "tests/program/suspected.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr int entries = 20, of_table = 40;
constexpr std::uint8_t delete_item = 9, store_item = 39, binary = 45, store_attribute = 108, list_append = 80;
constexpr std::uint8_t add_in_place = 13;

using Names = std::vector<std::string>;
using Instructions = std::vector<std::pair<std::uint8_t, std::uint8_t>>;

Address code_of(ProgramHeap& program, const std::string& name, const Names& names,
                const Instructions& instructions = {}) {
    const Address code = program.code_using(name, "/srv/app/app.py", names);
    const Address at = code + *program.heap.layout().code.co_code_adaptive;
    std::uint64_t end = 0;
    for (const auto& [operation, argument] : instructions) {
        program.heap.put(at + end, operation);
        program.heap.put(at + end + 1, argument);
        end += operations_of(program.heap.layout().version)->size({operation, argument});
    }
    return code;
}

void set_constants(ProgramHeap& program, Address code, const std::vector<Address>& constants) {
    program.heap.set(code, program.heap.layout().code.co_consts, program.heap.tuple(constants));
}

/// app.CACHE, of a class Cache with `items`, a list of so many, and `size`.
void add_cache(ProgramHeap& program, std::int64_t size, int count = entries) {
    const Address type = program.class_with("Cache", {.attributes = {"items", "size"}});
    const Address cache =
        program.instance_with(type, {program.list(payloads(program, count)), program.heap.integer(size)});
    program.module("app", "/srv/app/app.py", {{"Cache", type}, {"CACHE", cache}});
}

/// Of the largest holder.
std::optional<Bound> bound_in(ProgramHeap& program) {
    const Analysed analysed(program);
    const auto holders = top_holders(analysed.graph, analysed.sizes, 1000, 5);
    REQUIRE_FALSE(holders.empty());
    REQUIRE(holders.front().object);
    const Scene scene(analysed.retained, holders.front());
    return bound_of(scene, CodeThatNames(analysed.heap));
}

std::string words_in(ProgramHeap& program) {
    const auto bound = bound_in(program);
    return bound ? sentence(bound->words) : std::string();
}

}  // namespace

TEST_CASE("bounds: a function that takes out what is more than an attribute says", "[program][suspects]") {
    const auto [takes_out, instructions] = GENERATE(values<std::pair<std::string, Instructions>>(
        {{"popitem", {}}, {"pop", {}}, {"popleft", {}}, {"next", {{delete_item, 0}}}}));
    const auto size = GENERATE(20, 21, 40);
    ProgramHeap program;
    add_cache(program, size);
    code_of(program, "Cache.__init__", {"size", "items"}, {{store_attribute, 0}, {store_attribute, 1}});
    code_of(program, "Cache.get", {"items", "len", "size", takes_out}, instructions);
    CHECK(words_in(program) == "it is bounded: size=" + std::to_string(size) + (size < 40 ? ", full" : ""));
}

TEST_CASE("bounds: none where the number is another, is set again, or nothing is taken out",
          "[program][suspects]") {
    ProgramHeap program;
    SECTION("smaller") {
        add_cache(program, 18);
        code_of(program, "Cache.get", {"items", "len", "size", "popitem"});
    }
    SECTION("much larger") {
        add_cache(program, 1000);
        code_of(program, "Cache.get", {"items", "len", "size", "popitem"});
    }
    SECTION("a count of what is there") {
        add_cache(program, 20);
        code_of(program, "Cache.get", {"items", "len", "size", "popitem"}, {{store_attribute, 2}});
    }
    SECTION("the length is not asked for") {
        add_cache(program, 20);
        code_of(program, "Cache.drop", {"items", "size", "pop"});
    }
    SECTION("nothing is taken out") {
        add_cache(program, 20);
        code_of(program, "Cache.get", {"items", "len", "size"});
    }
    SECTION("of something else") {
        add_cache(program, 20);
        code_of(program, "Cache.get", {"others", "len", "size", "popitem"});
    }
    CHECK(words_in(program).empty());
}

TEST_CASE("bounds: a constant counts where it is reached, and a global", "[program][suspects]") {
    const bool constant = GENERATE(true, false);
    const auto most = GENERATE(20, 30);
    ProgramHeap program;
    program.module("app", "/srv/app/app.py",
                   {{"CACHE", program.list(payloads(program, entries))},
                    {"MOST", program.heap.integer(constant ? 1 : most)}});
    const Address put = code_of(program, "put", {"CACHE", "len", "MOST", "pop"});
    if (constant) set_constants(program, put, {program.heap.integer(most)});
    CHECK(words_in(program) == (!constant
                                    ? most == 20 ? "it is bounded: MOST=20, full" : "it is bounded: MOST=30"
                                : most == 20 ? "it is bounded: 20 entries at most, full"
                                             : ""));
}

TEST_CASE("bounds: a table that its owner's __init__ fills, and that others read", "[program][suspects]") {
    const auto [names, instructions] = GENERATE(values<std::pair<Names, Instructions>>(
        {{{"items", "append"}, {}}, {{"items"}, {{list_append, 2}, {store_attribute, 0}}}}));
    ProgramHeap program;
    add_cache(program, 5, of_table);
    code_of(program, "Cache.__init__", names, instructions);
    code_of(program, "Cache.find", {"items", "bisect"});
    CHECK(words_in(program) ==
          "it is filled once, in Cache.__init__(), app.py:10; no other function that uses "
          "`items` adds to it");
}

TEST_CASE("bounds: a table of a module that its body fills", "[program][suspects]") {
    ProgramHeap program;
    const Address table = program.list(payloads(program, of_table));
    program.module("app", "/srv/app/app.py", {{"TABLE", table}});
    program.module("web", "/srv/app/web.py", {{"TABLE", table}});
    code_of(program, "<module>", {"TABLE", "append"});
    program.code_using("<module>", "/srv/app/web.py", {"app", "TABLE"});  // imports it
    code_of(program, "find", {"TABLE", "bisect"});
    CHECK(words_in(program) ==
          "it is filled once, in the body of app.py; no other function that uses `TABLE` adds to it");
}

TEST_CASE("bounds: a table that something may add to", "[program][suspects]") {
    ProgramHeap program;
    add_cache(program, 5, of_table);
    code_of(program, "Cache.__init__", {"items", "append"});
    SECTION("by a call") {
        code_of(program, "Cache.find", {"items", "bisect"});
        code_of(program, "learn", {"items", "setdefault"});
    }
    SECTION("by a call of a function of its own") { code_of(program, "learn", {"items", "heappush"}); }
    SECTION("by an item that it stores") { code_of(program, "learn", {"items", "key"}, {{store_item, 0}}); }
    SECTION("in place") { code_of(program, "learn", {"items", "key"}, {{binary, add_in_place}}); }
    SECTION("by another table") { code_of(program, "load", {"key", "items"}, {{store_attribute, 1}}); }
    SECTION("by instructions that stand for others") {
        code_of(program, "find", {"items", "key"}, {{254, 0}});
    }
    SECTION("by the __init__ of others") {
        code_of(program, "Cache.find", {"items", "bisect"});
        code_of(program, "Job.__init__", {"CACHE", "items", "append"});
    }
    SECTION("by whoever asks for it") {
        code_of(program, "Cache.all", {"items"});
        code_of(program, "learn", {"CACHE", "all", "append"});
    }
    SECTION("nothing uses it by its name") {}
    CHECK(words_in(program).empty());
}

TEST_CASE("bounds: a table that nothing is seen to fill", "[program][suspects]") {
    ProgramHeap program;
    add_cache(program, 5, of_table);
    code_of(program, "Cache.__init__", {"items"}, {{store_attribute, 0}});
    code_of(program, "Cache.find", {"items", "bisect"});
    CHECK(words_in(program).empty());
}

TEST_CASE("bounds: what has one is a suspect only with half of what is in use", "[program][suspects]") {
    const bool half = GENERATE(false, true);
    ProgramHeap program;
    const Address type = program.class_with("Cache", {.attributes = {"items", "size"}});
    const Address items = program.list(payloads(program, entries, 400'000));
    const Address cache = program.instance_with(type, {items, program.heap.integer(entries)});
    ProgramHeap::Named globals = {{"Cache", type}, {"CACHE", cache}};
    for (const char* name : {"A", "B", "C"})
        if (!half) globals.emplace_back(name, payload(program, 4'000'000));
    program.module("app", "/srv/app/app.py", globals);
    code_of(program, "Cache.get", {"items", "len", "size", "popitem"});
    const Analysed analysed(program);
    Work work(analysed.heap);
    const OverviewResult found = overview(work, 3);
    const SuspectsResult with_code = suspects(work, found, 0, true),
                         without = suspects(work, found, 0, false);
    CHECK(with_code.suspects.size() == (half ? 1 : 0));
    REQUIRE(with_code.bounded.size() == (half ? 0 : 1));
    CHECK(without.suspects.size() == 1);
    CHECK(without.bounded.empty());
    const Suspect& told = half ? with_code.suspects[0] : with_code.bounded[0];
    CHECK_THAT(sentence(told.cause.words), ContainsSubstring("; it is bounded: size=20, full"));
    CHECK(told.cause.fix == "lower size, or keep smaller things in it");
}
