// Caches that cannot shrink, or whose keys are what they were meant to serve.

#include "tests/catch.h"
#include "tests/program/suspected.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// functools.lru_cache: its wrapper, and the results beside their keys. With a bound the results are in links,
/// which form a ring.
Address lru_cache(ProgramHeap& program, Address function, std::int64_t maxsize, const Entries& results) {
    PythonHeapBuilder& heap = program.heap;
    const auto& l = heap.layout().lru_cache;
    const auto& of_link = heap.layout().lru_cache_link;
    const Address type = heap.c_type("functools._lru_cache_wrapper",
                                     {.basicsize = *l.size, .flags = test::have_gc_flag}),
                  link_type = heap.c_type("functools._lru_list_elem", {.basicsize = *of_link.size});
    const Address made = program.object(type);
    Entries entries = results;
    Address last = made;
    if (maxsize >= 0)
        for (auto& [key, value] : entries) {
            const Address link = heap.object(link_type);
            heap.set(link, of_link.key, key);
            heap.set(link, of_link.result, value);
            heap.set(link, of_link.prev, last);
            heap.set(link, of_link.next, made);
            if (last == made)
                heap.set(made, l.root_next, link);
            else
                heap.set(last, of_link.next, link);
            last = value = link;
        }
    if (last == made) heap.set(made, l.root_next, made);
    heap.set(made, l.root_prev, last);
    heap.set(made, l.func, function);
    heap.set(made, l.maxsize, maxsize);
    heap.set(made, l.cache, program.dict_of(entries));
    return made;
}

Entries results_of_numbers(ProgramHeap& program, int count) {
    Entries results;
    for (int i = 0; i < count; ++i) results.emplace_back(program.heap.integer(i), payload(program));
    return results;
}

}  // namespace

TEST_CASE("suspects: a cache without a bound, with how much is in it", "[program][suspects]") {
    ProgramHeap program;
    const Address cache = lru_cache(program, program.function("render"), -1, results_of_numbers(program, 20));
    program.module("app", "/srv/app/app.py", {{"render", cache}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(cache) == "lru-cache");
    CHECK(suspected.words_of(cache) ==
          "a cache without a bound of render(), app.py:10: 20 entries, maxsize=None");
    CHECK(suspected.fix_of(cache) == "set maxsize, or call cache_clear()");
    CHECK_FALSE(suspected.of(cache).general);
    CHECK_FALSE(suspected.of(cache).usual);
}

TEST_CASE("suspects: a cache with a bound says how large it is", "[program][suspects]") {
    ProgramHeap program;
    const Address cache =
        lru_cache(program, program.function("render"), 5000, results_of_numbers(program, 20));
    program.module("app", "/srv/app/app.py", {{"render", cache}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(cache) == "lru-cache");
    CHECK(suspected.words_of(cache) == "the cache of render(), app.py:10: 20 entries of maxsize=5000");
    CHECK(suspected.fix_of(cache) == "lower maxsize, or cache something smaller");
    CHECK(suspected.of(cache).usual);
}

TEST_CASE("suspects: a dict that a function fills is no cache of functools", "[program][suspects]") {
    ProgramHeap program;
    const Address cache = program.dict_of(results_of_numbers(program, 20));
    program.module("app", "/srv/app/app.py", {{"render", program.function("render")}, {"CACHE", cache}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(cache) == "module-container");
}

TEST_CASE("suspects: an attribute of a function with a cache is not in its cache", "[program][suspects]") {
    ProgramHeap program;
    const Address cache = lru_cache(program, program.function("render"), -1, {}),
                  pages = program.list(payloads(program, 20));
    program.heap.set(cache, program.heap.layout().lru_cache.dict, program.dict({{"pages", pages}}));
    program.module("app", "/srv/app/app.py", {{"render", cache}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(pages) == "container");
}

TEST_CASE("suspects: the cache of a method keeps each self", "[program][suspects]") {
    ProgramHeap program;
    const Address page = program.python_class("Page", {"text"}),
                  book = program.class_with("Book", {.base = page, .slots = {"title"}});
    const bool arguments = GENERATE(false, true), bounded = GENERATE(false, true);
    Entries results;
    for (int i = 0; i < 20; ++i) {
        // Of a subclass as well.
        const Address self = program.instance(i % 2 ? page : book, {payload(program)});
        const Address key = arguments ? program.heap.tuple({self, program.heap.integer(i)}) : self;
        results.emplace_back(key, program.heap.real(i));
    }
    const Address cache = lru_cache(program, program.function("Page.size"), bounded ? 50 : -1, results);
    const Address on_class = program.class_with("Catalogue", {.members = {{"size", cache}}});
    program.module("app", "/srv/app/app.py", {{"Page", page}, {"Book", book}, {"Catalogue", on_class}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(cache) == "lru-cache");
    CHECK(suspected.words_of(cache) ==
          std::string("the cache of Page.size(), app.py:10 keeps the `self` of every call: 20 entries") +
              (bounded ? "" : ", maxsize=None"));
    CHECK(suspected.fix_of(cache) == (arguments ? "keep the results in a dict of the instance, or cache a "
                                                  "function that takes values, not `self`"
                                                : "use functools.cached_property, or set maxsize"));
}

TEST_CASE("suspects: a cache keeps no self if its function is no method, or its keys are other objects",
          "[program][suspects]") {
    ProgramHeap program;
    const Address page = program.python_class("Page", {"text"});
    Entries results;
    for (int i = 0; i < 20; ++i)
        results.emplace_back(program.instance(page, {payload(program)}), program.heap.real(i));
    const std::string name = GENERATE("size", "make.<locals>.size", "Line.size", "Page.size");
    const Address cache = lru_cache(
        program, program.function(name), -1,
        name == "Page.size" ? results_of_numbers(program, 20) : results);  // that of a static method
    program.module("app", "/srv/app/app.py", {{"Page", page}, {"size", cache}});
    const Suspected suspected(program);
    CHECK(suspected.words_of(cache) ==
          "a cache without a bound of " + name + "(), app.py:10: 20 entries, maxsize=None");
}

TEST_CASE("suspects: a WeakKeyDictionary whose values refer to their keys, and by which attribute",
          "[program][suspects]") {
    ProgramHeap program;
    const Address owner = program.python_class("Owner", {}),
                  value_type = program.class_with("Record", {.attributes = {"text", "of"}}),
                  type =
                      program.class_with("WeakKeyDictionary", {.module = "weakref", .attributes = {"data"}});
    constexpr int by_attribute = 0, by_key_of_a_dict = 1, not_at_all = 2;
    const int how = GENERATE(0, 1, 2);
    Entries entries;
    std::vector<Address> owners;
    for (int i = 0; i < 20; ++i) {
        const Address key = program.instance(owner), text = payload(program);
        const Address value = how == by_attribute ? program.instance_with(value_type, {text, key})
                              : how == by_key_of_a_dict
                                  ? program.dict({{"text", text}, {"of", key}})
                                  : program.instance_with(value_type, {text, program.heap.none()});
        entries.emplace_back(weak_reference(program, key), value);
        if (how == not_at_all) owners.push_back(key);
    }
    const Address data = program.dict_of(entries), registry = program.instance_with(type, {data});
    program.module(
        "app", "/srv/app/app.py",
        {{"Owner", owner}, {"Record", value_type}, {"REGISTRY", registry}, {"OWNERS", program.list(owners)}});
    program.module("weakref", "/usr/lib/python3.13/weakref.py", {{"WeakKeyDictionary", type}});
    const Suspected suspected(program);
    if (how == not_at_all) {
        CHECK(suspected.kind_of(registry) == "container");
        return;
    }
    CHECK(suspected.kind_of(registry) == "weak-keys");
    const std::string words =
        "a WeakKeyDictionary that cannot shrink: each value refers to its own key, app.Owner";
    CHECK(suspected.words_of(registry) == words + (how == by_attribute ? ", by app.Record.of" : ""));
    CHECK(suspected.fix_of(registry) == (how == by_attribute ? "make app.Record.of a weakref.ref"
                                                             : "keep a weakref.ref to the key in the value"));
}
