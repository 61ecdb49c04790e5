// Holders of which no more is known than where they stand.

#include "tests/catch.h"
#include "tests/program/suspected.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// A container of that type with much in it.
Address full_container(ProgramHeap& program, const std::string& type) {
    const std::vector<Address> items = payloads(program, 20);
    if (type == "list") return program.list(items);
    if (type == "set") return program.heap.set(items, 64);
    if (type == "deque") return deque(program, items);
    Entries entries;
    for (std::size_t i = 0; i < items.size(); ++i)
        entries.emplace_back(program.heap.str("key " + std::to_string(i)), items[i]);
    return program.heap.dict_of_type(program.heap.builtin(type), entries, {.log2_size = 5});
}

}  // namespace

TEST_CASE("suspects: a container in a module lives as long as the process", "[program][suspects]") {
    const auto [type, words, fix] = GENERATE(table<std::string, std::string, std::string>(
        {{"list", "a list", "remove what is done with, or give it a bound"},
         {"deque", "a deque", "remove what is done with, or give it a bound: a maxlen, or a smaller one"},
         {"set", "a set", "remove what is done with, or use weakref.WeakSet"},
         {"dict", "a dict", "remove entries that are done with, or give it a bound"},
         {"collections.defaultdict", "a defaultdict",
          "remove entries that are done with, or give it a bound"},
         {"collections.OrderedDict", "an OrderedDict",
          "remove entries that are done with, or give it a bound"}}));
    ProgramHeap program;
    const Address orders = full_container(program, type);
    program.module("app", "/srv/app/app.py", {{"ORDERS", orders}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(orders) == "module-container");
    CHECK(suspected.words_of(orders) == words + " in a module: it lives as long as the process");
    CHECK(suspected.fix_of(orders) == fix);
    CHECK(suspected.of(orders).general);
}

TEST_CASE("suspects: a container further down says in what kind of object it is", "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.class_with("Board", {.attributes = {"rows"}});
    const Address rows = full_container(program, "list"), nested = full_container(program, "dict");
    program.module("app", "/srv/app/app.py",
                   {{"Board", type},
                    {"BOARD", program.instance_with(type, {rows})},
                    {"TABLES", program.dict({{"orders", nested}})}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(rows) == "container");
    CHECK(suspected.words_of(rows) == "a list in an object of type app.Board");
    CHECK(suspected.kind_of(nested) == "container");
    CHECK(suspected.words_of(nested) == "a dict");
}

TEST_CASE("suspects: a container of a class is shared by all instances", "[program][suspects]") {
    ProgramHeap program;
    const Address instances = full_container(program, "list");
    const Address type = program.class_with("Model", {.members = {{"instances", instances}}});
    program.module("app", "/srv/app/app.py", {{"Model", type}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(instances) == "class-attribute");
    CHECK(suspected.words_of(instances) == "an attribute of the class Model, shared by all instances");
    CHECK(suspected.fix_of(instances) ==
          "make it in __init__, if each should have its own; else remove what is done with, or give it a "
          "bound");
}

TEST_CASE("suspects: the default of an argument is one object for all calls", "[program][suspects]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const auto& l = heap.layout().function;
    const Address function = program.function("collect"), into = full_container(program, "list"),
                  keyword = program.function("gather"), found = full_container(program, "list"),
                  plain = program.function("plain"), attribute = full_container(program, "list");
    heap.set(function, l.func_defaults, heap.tuple({heap.none(), into}));
    heap.set(keyword, l.func_kwdefaults, program.dict({{"found", found}}));
    heap.set(plain, l.func_dict, program.dict({{"seen", attribute}}));
    program.module("app", "/srv/app/app.py", {{"collect", function}, {"gather", keyword}, {"plain", plain}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(into) == "default-argument");
    CHECK(suspected.words_of(into) ==
          "the default of an argument of collect(), app.py:10: one object for all calls");
    CHECK(suspected.fix_of(into) == "use None as the default; make the object inside");
    CHECK_FALSE(suspected.of(into).general);
    CHECK(suspected.words_of(found) ==
          "the default of an argument of gather(), app.py:10: one object for all calls");
    CHECK(suspected.kind_of(attribute) == "container");  // an attribute of a function is no default
}

TEST_CASE("suspects: thread-local data is kept until its thread ends", "[program][suspects]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const auto& l = heap.layout();
    const Address local_type = heap.c_type("_thread._local",
                                           {.basicsize = *l.thread_locals.size, .flags = test::have_gc_flag}),
                  dummy_type = heap.c_type("_thread._localdummy", {.basicsize = 24});
    const Address rows = full_container(program, "list"), values = program.dict({{"rows", rows}}),
                  dummy = heap.object(dummy_type), local = program.object(local_type);
    heap.set(local, l.thread_locals.dummies, program.dict_of({{dummy, values}}));
    program.module("app", "/srv/app/app.py", {{"LOCAL", local}});
    heap.put(program.thread + *l.thread_state.size - 8, dummy);  // threading_local_key
    const Suspected suspected(program);
    CHECK(suspected.kind_of(rows) == "thread-local");
    CHECK(suspected.words_of(rows) == "thread-local data of app.LOCAL: kept until the thread ends");
    CHECK(suspected.fix_of(rows) == "clear it at the end of each request or job");
}

TEST_CASE("suspects: a local is kept until its call ends", "[program][suspects]") {
    ProgramHeap program;
    const Address rows = full_container(program, "list"), nested = full_container(program, "list");
    program.module("app", "/srv/app/app.py", {});
    program.call("work", {{"rows", rows}, {"table", program.dict({{"nested", nested}})}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(rows) == "local");
    CHECK(suspected.words_of(rows) == "kept until that call ends");
    CHECK(suspected.fix_of(rows) == "del the local when it is done with, or keep less in it");
    CHECK(suspected.kind_of(nested) == "container");  // it could be taken out of the local
}

TEST_CASE("suspects: a local of a suspended generator is told by the generator", "[program][suspects]") {
    const bool ended = GENERATE(false, true);
    ProgramHeap program;
    const Address rows = full_container(program, "list");
    const Address source = program.generator("produce", {{"rows", rows}});
    if (ended) program.heap.set(source, program.heap.layout().generator.gi_frame_state, std::int8_t{4});
    program.module("app", "/srv/app/app.py", {{"SOURCE", source}, {"ROWS", ended ? rows : Address()}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(rows) == (ended ? "module-container" : "suspended-local"));
    if (!ended) {
        CHECK(suspected.words_of(rows) == "a generator suspended in produce(), app.py keeps it as a local");
        CHECK(suspected.fix_of(rows) == "run it to its end, call close(), or del the local");
    }
}

TEST_CASE("suspects: of what two registries hold together, neither frees anything alone",
          "[program][suspects]") {
    ProgramHeap program;
    const std::vector<Address> jobs = payloads(program, 20);
    program.module("app", "/srv/app/app.py",
                   {{"BY_NAME", program.list(jobs)}, {"BY_AGE", program.list(jobs)}});
    const Suspected suspected(program);
    CHECK(suspected.joint().kind == "joint-holders");
    CHECK(sentence(suspected.joint().words) ==
          "each of them keeps all of it: it is freed when the last one lets go");
    CHECK(suspected.joint().fix ==
          "remove from every one of them what is done with");  // bytes: no weak references
    CHECK(suspected.joint().general);
}

TEST_CASE("suspects: what two registries hold may be held weakly if its class allows that",
          "[program][suspects]") {
    ProgramHeap program;
    const Address type = program.python_class("Job", {"text", "__weakref__"});
    program.heap.set(type, program.heap.layout().type.tp_weaklistoffset, std::int64_t{24});
    std::vector<Address> jobs;
    for (int i = 0; i < 20; ++i) jobs.push_back(program.instance(type, {payload(program)}));
    program.module("app", "/srv/app/app.py",
                   {{"Job", type}, {"BY_NAME", program.list(jobs)}, {"BY_AGE", program.list(jobs)}});
    const Suspected suspected(program);
    CHECK(suspected.joint().kind == "joint-holders");
    CHECK(suspected.joint().fix ==
          "remove from every one of them what is done with, or hold weakly in all but one");
}

TEST_CASE("suspects: what closures two registries share is said before how many hold it",
          "[program][suspects]") {
    ProgramHeap program;
    std::vector<Address> functions;
    for (int i = 0; i < 20; ++i)
        functions.push_back(program.function("on_paid", {{"body", program.cell(payload(program))}}));
    program.module("app", "/srv/app/app.py",
                   {{"PAID", program.list(functions)}, {"DONE", program.list(functions)}});
    const Suspected suspected(program);
    CHECK(suspected.joint().kind == "closures");
    CHECK_THAT(sentence(suspected.joint().words), ContainsSubstring("each keeps its `body`"));
}

TEST_CASE("suspects: what no rule knows has no cause", "[program][suspects]") {
    ProgramHeap program;
    const Address queue = full_container(program, "list");
    const Address socket = program.object(program.heap.c_type("fast.Socket", {.basicsize = 32}));
    program.heap.put(socket + 16, queue);  // a word of C code, without a name
    program.module("app", "/srv/app/app.py", {{"SOCKET", socket}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(socket) == "holder");
    CHECK(suspected.of(socket).words.empty());
    CHECK(suspected.of(socket).fix.empty());
    CHECK(suspected.of(socket).general);
}

TEST_CASE("suspects: a set that had much more than it has", "[program][suspects]") {
    ProgramHeap program;
    const std::uint64_t room = GENERATE(1 << 16, 64);
    const std::vector<Address> left = payloads(program, 3);
    const Address seen = program.heap.set(left, room);
    program.module("app", "/srv/app/app.py", {{"SEEN", seen}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(seen) == (room == 64 ? "module-container" : "emptied"));
    if (room == 64) return;
    CHECK_THAT(suspected.words_of(seen), Catch::Matchers::StartsWith("a table for what it once had: "));
    CHECK_THAT(suspected.words_of(seen),
               Catch::Matchers::EndsWith(" for 3 entries; taking entries out does not shrink it"));
    CHECK(suspected.fix_of(seen) == "make a new one of what is left: set(…)");
}

TEST_CASE("suspects: what is counted and was not found", "[program][suspects]") {
    ProgramHeap program;
    const Address rows = program.list(payloads(program, 20));
    program.leak(rows, 1);
    program.module("app", "/srv/app/app.py", {});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(rows) == "leaked-reference");
    CHECK(suspected.fix_of(rows) == "find the extension that returns or takes such objects");
    CHECK(suspected.of(rows).general);
}

TEST_CASE("suspects: a container in a variable of a closure is told by its name", "[program][suspects]") {
    ProgramHeap program;
    const Address rows = program.list(payloads(program, 20));
    const Address wrapper = program.function("memoize.<locals>.wrapper", {{"cache", program.cell(rows)}});
    program.module("app", "/srv/app/app.py", {{"render", wrapper}});
    const Suspected suspected(program);
    CHECK(suspected.kind_of(rows) == "container");
    CHECK(suspected.words_of(rows) ==
          "a list, the variable `cache` of memoize.<locals>.wrapper(), app.py:10");
}

TEST_CASE("suspects: what is in the tuples of a list, where that is instances", "[program][suspects]") {
    const bool instances = GENERATE(true, false);
    ProgramHeap program;
    const Address model = program.python_class("Model", {"samples"});
    std::vector<Address> pairs;
    for (int i = 0; i < 20; ++i) {
        const Address much = payload(program);
        pairs.push_back(program.heap.tuple(
            {program.heap.str("trial"), program.list({instances ? program.instance(model, {much}) : much})}));
    }
    const Address trained = program.list(pairs);
    program.module("app", "/srv/app/app.py", {{"Model", model}, {"TRAINED", trained}});
    const Suspected suspected(program);
    CHECK(suspected.words_of(trained) == std::string("a list in a module: it lives as long as the process") +
                                             (instances ? "; most of each tuple is of type app.Model" : ""));
}
