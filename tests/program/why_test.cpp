// What keeps an object alive, in whole programs: roots, the steps down, what paths may be asked to avoid,
// garbage. Expressions that `why` prints are looked up again, and must lead back to the object.

#include "analysis/why.h"

#include "analysis/dominators.h"
#include "analysis/expression.h"
#include "analysis/holders.h"
#include "analysis/root_names.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::string text(const WhyPath& path) {
    std::string result = path.expression.root;
    for (std::size_t i = path.expression.first; i < path.expression.steps.size(); ++i)
        result += notation(path.expression.steps[i].name);
    return result;
}

/// Starting at the root's object, each step begins where the previous one ended.
void check_joined(const WhyPath& path, Address target) {
    Address at = path.at_root.address;
    for (const WhyStep& step : path.steps) {
        CHECK(step.edge.source.address == at);
        at = step.edge.target.address;
    }
    CHECK(at == target);
}

void check_leads_back(const Analysed& analysed, const WhyPath& path, Address target) {
    const ExpressionFinding found = find_expression(analysed.heap, text(path));
    INFO(text(path));
    CHECK(found.objects == std::vector{analysed.id(target)});
}

/// The path to `target`, which must be the only one asked for.
WhyPath path_to(const Analysed& analysed, Address target) {
    WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(target), {});
    REQUIRE(result.paths.size() == 1);
    check_joined(result.paths[0], target);
    return result.paths[0];
}

std::set<std::string> root_names(const Analysed& analysed, Address object) {
    RootNamer namer(analysed.graph);
    std::set<std::string> names;
    for (const HeapGraph::PlacedRoot& placed : analysed.graph.roots_of(analysed.id(object)))
        names.insert(namer.name(placed.root));
    return names;
}

}  // namespace

TEST_CASE("why: an object in a dict in a global is reached by the expression one would type",
          "[program][why]") {
    ProgramHeap program;
    const Address node = program.instance(program.python_class("Node", {"value", "next"}));
    const Address cache = program.dict({{"first", program.list({program.heap.real(1.5), node})}});
    program.module("app", "/srv/app/app.py", {{"CACHE", cache}});
    const Analysed analysed(program);
    const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(node), {});
    CHECK(result.reach == Reach::named);
    CHECK(result.group == "app");
    REQUIRE(result.paths.size() == 1);
    CHECK(result.paths[0].root.kind == RootKind::module);
    CHECK(text(result.paths[0]) == "app.CACHE['first'][1]");
    check_joined(result.paths[0], node);
    check_leads_back(analysed, result.paths[0], node);
    CHECK(result.references_found == 1);
    CHECK(result.references_counted == 1);
}

TEST_CASE("why: a local of a call that runs is a root of the thread, unless frames are left out",
          "[program][why]") {
    ProgramHeap program;
    const Address node = program.instance(program.python_class("Node", {"value", "next"}));
    program.module("app", "/srv/app/app.py", {});
    program.call("main", {});
    program.call("work", {{"rows", program.list({node})}});
    const Analysed analysed(program);
    const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(node), {});
    REQUIRE(result.paths.size() == 1);
    CHECK(result.paths[0].root.kind == RootKind::frame);
    CHECK(result.group.starts_with("thread "));
    CHECK(text(result.paths[0]) == "work().rows[0]");
    check_leads_back(analysed, result.paths[0], node);
    CHECK(why(analysed.graph, analysed.sizes, analysed.id(node), {.without_frames = true}).paths.empty());
}

TEST_CASE("why: a global is preferred to a local, and both are given where two paths are asked for",
          "[program][why]") {
    ProgramHeap program;
    const Address node = program.instance(program.python_class("Node", {"value", "next"}));
    program.module("app", "/srv/app/app.py", {{"KEPT", program.list({node})}});
    program.call("work", {{"row", node}});
    const Analysed analysed(program);
    const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(node), {.paths = 2});
    REQUIRE(result.paths.size() == 2);
    std::vector<std::string> texts = {text(result.paths[0]), text(result.paths[1])};
    std::sort(texts.begin(), texts.end());
    CHECK(texts == std::vector<std::string>{"app.KEPT[0]", "work().row"});
    CHECK(result.paths[1].disjoint);
    CHECK(result.group == "shared by several groups");
    CHECK(result.references_found == 2);
    for (const WhyPath& path : result.paths) check_leads_back(analysed, path, node);
}

TEST_CASE("why: slots are attributes, and each step says what it retains", "[program][why]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address last = program.instance(type, {program.heap.real(1)});
    const Address middle = program.instance(type, {program.heap.real(2), last});
    const Address first = program.instance(type, {program.heap.real(3), middle});
    program.module("app", "/srv/app/app.py", {{"HEAD", first}});
    const Analysed analysed(program);
    const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(last), {});
    REQUIRE(result.paths.size() == 1);
    CHECK(text(result.paths[0]) == "app.HEAD.next.next");
    REQUIRE(result.paths[0].steps.size() >= 3);
    const auto& steps = result.paths[0].steps;
    CHECK(steps.back().retained == result.retained);
    CHECK(result.retained > analysed.memory(last));  // its float as well
    for (std::size_t i = 1; i < steps.size(); ++i) CHECK(steps[i].retained <= steps[i - 1].retained);
}

TEST_CASE("why: garbage that refers to itself is unreachable, and its cycle is shown", "[program][why]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address one = program.instance(type), two = program.instance(type), tail = program.instance(type);
    program.set_slot(one, 1, two);
    program.set_slot(two, 1, one);
    program.set_slot(two, 0, tail);
    program.module("app", "/srv/app/app.py", {{"Node", type}});
    const Analysed analysed(program);
    const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(one), {});
    CHECK(result.reach == Reach::unreachable);
    CHECK(result.paths.empty());
    REQUIRE(result.cycle.size() == 2);
    CHECK(result.cycle.front().edge.source.address == one);
    CHECK(result.cycle.back().edge.target.address == one);
    const WhyResult below = why(analysed.graph, analysed.sizes, analysed.id(tail), {});
    CHECK(below.reach == Reach::unreachable);
    CHECK(below.cycle.empty());
    REQUIRE_FALSE(below.from_cycle.empty());
    CHECK(below.from_cycle.back().edge.target.address == tail);
}

TEST_CASE("why: what a count alone holds hangs at a reference that was not found", "[program][why]") {
    ProgramHeap program;
    const Address node = program.instance(program.python_class("Node", {"value", "next"}));
    program.leak(node, 1);
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(node), {});
    CHECK(result.reach == Reach::held);
    REQUIRE(result.paths.size() == 1);
    CHECK(result.paths[0].root.kind == RootKind::native_unseen);
    CHECK(result.references_found == 0);
    CHECK(result.references_counted == 1);
}

TEST_CASE("why: a local that an inner function shares is named, and not its cell", "[program][why]") {
    ProgramHeap program;
    const Address node = program.list({}), rows = program.list({node}), cell = program.cell(rows);
    program.module("app", "/srv/app/app.py", {});
    program.call("work", {{"rows", cell}});
    const Analysed analysed(program);
    CHECK(text(path_to(analysed, rows)) == "work().rows");
    CHECK(text(path_to(analysed, cell)) == "work().<cell rows>");
    check_leads_back(analysed, path_to(analysed, cell), cell);
    const WhyPath path = path_to(analysed, node);
    CHECK(text(path) == "work().rows[0]");
    check_leads_back(analysed, path, node);
    CHECK(root_names(analysed, cell) == std::set<std::string>{"work().rows"});
}

TEST_CASE("why: a call that runs twice in its thread cannot be told by its name: an address begins",
          "[program][why]") {
    ProgramHeap program;
    const Address node = program.list({}), rows = program.list({node});
    program.module("app", "/srv/app/app.py", {});
    program.call("walk", {{"rows", program.list({})}});
    program.call("walk", {{"rows", rows}});
    const Analysed analysed(program);
    const WhyPath path = path_to(analysed, node);
    CHECK(path.root.kind == RootKind::frame);
    CHECK(path.root_words == "thread 100, walk(), app.py");
    CHECK(path.expression.from_address);
    CHECK(text(path) == fmt::format("{:#x}[0]", rows.value));
    check_leads_back(analysed, path, node);
    CHECK(root_names(analysed, rows) == std::set<std::string>{"thread 100, walk(), app.py, local rows"});
}

TEST_CASE("why: a call of the same name in several threads is told by the thread, named or not",
          "[program][why]") {
    ProgramHeap program;
    const Address of_main = program.list({}), of_named = program.list({}), of_nameless = program.list({});
    program.module("app", "/srv/app/app.py", {});
    program.call("run", {{"rows", of_main}});
    program.start_thread("the worker's");
    program.call("run", {{"rows", of_named}});
    program.start_thread("");
    program.call("run", {{"rows", of_nameless}});
    const Analysed analysed(program);
    CHECK(text(path_to(analysed, of_main)) == "thread('MainThread').run().rows");
    CHECK(text(path_to(analysed, of_named)) == "thread('the worker\\'s').run().rows");
    CHECK(text(path_to(analysed, of_nameless)) == "thread(102).run().rows");
    for (const Address rows : {of_main, of_named, of_nameless})
        check_leads_back(analysed, path_to(analysed, rows), rows);
    CHECK(path_to(analysed, of_nameless).group == "thread 102");
    CHECK(path_to(analysed, of_named).group == "thread the worker's");
}

TEST_CASE("why: two threads of one name are told by their numbers", "[program][why]") {
    ProgramHeap program;
    const Address first = program.list({}), second = program.list({});
    program.module("app", "/srv/app/app.py", {});
    for (const Address rows : {first, second}) {
        program.start_thread("worker");
        program.call("run", {{"rows", rows}});
    }
    const Analysed analysed(program);
    const std::set<std::string> texts = {text(path_to(analysed, first)), text(path_to(analysed, second))};
    CHECK(texts == std::set<std::string>{"thread(101).run().rows", "thread(102).run().rows"});
    for (const Address rows : {first, second}) check_leads_back(analysed, path_to(analysed, rows), rows);
    CHECK(path_to(analysed, first).group != path_to(analysed, second).group);
}

TEST_CASE("why: what the body of a module that runs has is reached through its dict of names",
          "[program][why]") {
    ProgramHeap program;
    const Address rows = program.list({}), names = program.dict({{"rows", rows}});
    program.module("app", "/srv/app/app.py", {});
    program.run_body("<module>", names);
    const Analysed analysed(program);
    const WhyPath path = path_to(analysed, rows);
    CHECK(text(path) == fmt::format("{:#x}['rows']", names.value));
    check_leads_back(analysed, path, rows);
    CHECK(root_names(analysed, names) == std::set<std::string>{"thread 100, <module>(), app.py <f_locals>"});
}

TEST_CASE("why: a key without a literal is typed as it is printed: with its address", "[program][why]") {
    ProgramHeap program;
    const Address type = program.python_class("Key", {"value"});
    const auto key = [&] { return program.instance(type); };
    const Address one = program.list({}), two = program.list({}), three = program.list({}), of_one = key();
    program.module("app", "/srv/app/app.py",
                   {{"ONE", program.dict_of({{of_one, one}})},
                    {"SEVERAL", program.dict_of({{key(), program.list({two})}, {key(), three}})}});
    const Analysed analysed(program);
    CHECK(text(path_to(analysed, one)) == fmt::format("app.ONE[<app.Key at {:#x}>]", of_one.value));
    CHECK_FALSE(path_to(analysed, two).expression.from_address);
    for (const Address object : {one, two}) check_leads_back(analysed, path_to(analysed, object), object);
    check_leads_back(analysed, path_to(analysed, three), three);
}

TEST_CASE("why: attributes of instances and classes, and one in a class's dict that the class itself has too",
          "[program][why]") {
    ProgramHeap program;
    const Address rows = program.list({}), limit = program.list({}), own_base = program.list({});
    const Address type = program.class_with(
        "Node", {.attributes = {"rows"}, .members = {{"limit", limit}, {"__base__", own_base}}});
    const Address node = program.instance_with(type, {rows});
    program.module("app", "/srv/app/app.py", {{"Node", type}, {"NODE", node}});
    const Analysed analysed(program);
    CHECK(text(path_to(analysed, rows)) == "app.NODE.rows");
    CHECK(text(path_to(analysed, limit)) == "app.Node.limit");
    CHECK(text(path_to(analysed, own_base)) == "app.Node.__dict__['__base__']");  // .__base__ is object
    for (const Address object : {rows, limit, own_base})
        check_leads_back(analysed, path_to(analysed, object), object);
}

TEST_CASE("why: a suspended generator says where, and its locals are reached through its frame",
          "[program][why]") {
    ProgramHeap program;
    const Address item = program.list({}), shared = program.list({});
    const Address generator =
        program.generator("produce", {{"item", item}, {"shared", program.cell(shared)}});
    program.module("app", "/srv/app/app.py", {{"SOURCE", generator}});
    const Analysed analysed(program);
    const WhyPath path = path_to(analysed, item);
    CHECK(text(path) == "app.SOURCE.gi_frame.f_locals['item']");
    check_leads_back(analysed, path, item);
    REQUIRE(path.steps.size() >= 2);
    CHECK(path.steps[path.steps.size() - 2].remark == "suspended in produce(), app.py");
    check_leads_back(analysed, path_to(analysed, shared), shared);
}

TEST_CASE("why: thread-local data is the thread's, of the variable that holds the threading.local",
          "[program][why]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const auto& l = heap.layout();
    const Address local_type = heap.c_type("_thread._local",
                                           {.basicsize = *l.thread_locals.size, .flags = test::have_gc_flag}),
                  dummy_type = heap.c_type("_thread._localdummy", {.basicsize = 24});
    const Address rows = program.list({}), values = program.dict({{"rows", rows}}),
                  dummy = heap.object(dummy_type), local = program.object(local_type);
    heap.set(local, l.thread_locals.dummies, program.dict_of({{dummy, values}}));
    const bool named = GENERATE(true, false);
    if (named)
        program.module("app", "/srv/app/app.py", {{"LOCAL", local}});
    else
        program.module("app", "/srv/app/app.py", {{"LOCALS", program.list({local})}});
    // The thread's own word, threading_local_key.
    heap.put(program.thread + *l.thread_state.size - 8, dummy);
    const Analysed analysed(program);
    const WhyPath path = path_to(analysed, rows);
    CHECK(path.root.kind == RootKind::thread_local_);
    CHECK(path.root_words ==
          std::string("thread-local data of thread 100, of ") + (named ? "app.LOCAL" : "_thread._local"));
    CHECK(path.group == "thread 100");
    CHECK(text(path) == fmt::format("threadlocal({:#x}).rows", values.value));
    check_leads_back(analysed, path, rows);
    CHECK(find_expression(analysed.heap, fmt::format("threadlocal({:#x}).rows", local.value)).objects ==
          std::vector{analysed.id(rows)});
    const ExpressionFinding mistyped =
        find_expression(analysed.heap, fmt::format("threadlocal({:#x}).row", values.value));
    REQUIRE_FALSE(mistyped.near.empty());
    CHECK(notation(mistyped.near[0]) == ".rows");
}

TEST_CASE("why: a word of C code says where it stands: a library, the stack of a thread", "[program][why]") {
    ProgramHeap program;
    const Address in_library = program.list({}), on_stack = program.list({}), elsewhere = program.list({});
    program.module("app", "/srv/app/app.py", {});
    program.hold_in_library(in_library, "/usr/lib/libcache.so");
    program.hold_on_stack(on_stack);
    program.hold_natively(elsewhere);
    const Analysed analysed(program);
    CHECK(path_to(analysed, in_library).root_words == "libcache.so+0x40");
    CHECK(path_to(analysed, on_stack).root_words == "the stack of thread 100");
    CHECK(path_to(analysed, on_stack).group == "thread 100");
    CHECK(path_to(analysed, elsewhere).root_words == "memory without a known owner");
    CHECK(root_names(analysed, in_library) == std::set<std::string>{"<libcache.so+0x40>"});
}

TEST_CASE("why: a module of another interpreter is not to be mistaken for that of the first",
          "[program][why]") {
    ProgramHeap program;
    const Address first = program.list({}), second = program.list({});
    program.module("app", "/srv/app/app.py", {{"ROWS", first}});
    program.start_interpreter();
    program.module("app", "/srv/app/app.py", {{"ROWS", second}});
    const Analysed analysed(program);
    CHECK(text(path_to(analysed, first)) == "app.ROWS");
    const WhyPath path = path_to(analysed, second);
    CHECK(path.root_words == "module app of another interpreter");
    CHECK(path.expression.from_address);
    for (const Address rows : {first, second}) check_leads_back(analysed, path_to(analysed, rows), rows);
}

TEST_CASE("holders: a module of another interpreter is told by its address", "[program][holders]") {
    ProgramHeap program;
    const Address node = program.python_class("app.Node", {});
    const Address one = program.instance(node), another = program.instance(node);
    program.module("app", "/srv/app/app.py", {{"Node", node}, {"ROWS", program.list({one})}});
    program.start_interpreter();
    program.module("app", "/srv/app/app.py", {{"ROWS", program.list({another})}});
    const Analysed analysed(program);
    const std::vector<LoadedModule>& modules = analysed.graph.root_set().modules();
    const auto second = std::find_if(modules.begin(), modules.end(),
                                     [](const LoadedModule& module) { return module.shadowed; });
    REQUIRE(second != modules.end());
    const HeapSnapshot& columns = analysed.heap.snapshot();
    std::set<std::string> expressions;
    for (const HolderRow& row : holders(analysed.graph, {columns.type_of(analysed.id(one))}, {}, 0).rows)
        expressions.insert(row.expression);
    CHECK(expressions ==
          std::set<std::string>{"app.ROWS[*]", fmt::format("{:#x}.ROWS[*]", second->address.value)});
}

TEST_CASE("why: a second path goes around what the first one used, where there is a way", "[program][why]") {
    ProgramHeap program;
    const Address node = program.list({});
    const Address first = program.list({node}), second = program.list({node}), third = program.list({node});
    const Address hub = program.list({first, second, third});
    const Address around = program.list({program.list({program.list({second})})});
    program.module("app", "/srv/app/app.py", {{"HUB", hub}, {"AROUND", around}});
    const Analysed analysed(program);
    const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(node), {.paths = 3});
    REQUIRE(result.paths.size() == 3);
    CHECK(text(result.paths[0]) == "app.HUB[0][0]");
    CHECK(result.paths[0].disjoint);
    CHECK(text(result.paths[1]) == "app.AROUND[0][0][0][0]");
    CHECK(result.paths[1].disjoint);
    CHECK(text(result.paths[2]) == "app.HUB[2][0]");  // there is no other way to it
    CHECK_FALSE(result.paths[2].disjoint);
    for (const WhyPath& path : result.paths) {
        check_joined(path, node);
        check_leads_back(analysed, path, node);
    }
}

TEST_CASE("why: a type of C code, and a word of a thread's state, say what they are", "[program][why]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const Address type = heap.c_type("fast.Array", {}), cached = program.list({});
    const Address dict = program.dict({{"cache", cached}});
    heap.set(type, heap.layout().type.tp_dict, dict);
    const Address of_thread = program.list({});
    heap.put(program.thread + *heap.layout().thread_state.size - 8, of_thread);
    program.module("app", "/srv/app/app.py", {{"Array", type}});
    const Analysed analysed(program);
    CHECK(root_names(analysed, type) == std::set<std::string>{"a type that is part of the program"});
    const WhyPath path = path_to(analysed, of_thread);
    CHECK(path.root.kind == RootKind::thread);
    CHECK(path.root_words == "the state of thread 100");
    CHECK(path.expression.from_address);
    check_leads_back(analysed, path_to(analysed, cached), cached);
}

namespace {

/// A program with something of everything.
struct Everything {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;

    Everything() {
        const Address key_type = program.python_class("Key", {"value"}),
                      base = program.class_with("Base", {.members = {{"limit", program.list({})}}}),
                      type = program.class_with("Node", {.base = base, .attributes = {"rows", "next"}});
        const Address tail = program.instance_with(type, {program.list({heap.real(1)}), heap.none()}),
                      node = program.instance_with(type, {program.list({heap.bytes("x")}), tail});
        const Address keyed =
            program.dict_of({{heap.str("it's \"quoted\"\\"), program.list({})},
                             {heap.str("two\nlines"), program.list({})},
                             {heap.str(std::string(300, 'k')), program.list({})},
                             {heap.str(""), program.list({})},
                             {heap.str32(U"\u00e9\xd800\u200b\U0001f40d"), program.list({})},
                             {heap.integer(-5), program.list({})},
                             {heap.integer_of_digits({1, 2, 3, 4, 5, 6, 7, 8, 9}), program.list({})},
                             {heap.real(1e300), program.list({})},
                             {heap.real(-0.5), program.list({})},
                             {heap.real(std::numeric_limits<double>::infinity()), program.list({})},
                             {heap.real(std::numeric_limits<double>::quiet_NaN()), program.list({})},
                             {heap.bytes(std::string("\0\xff'", 3)), program.list({})},
                             {heap.none(), program.list({})},
                             {heap.boolean(false), program.list({})},
                             {heap.tuple({heap.integer(1), heap.tuple({})}), program.list({})},
                             {heap.tuple({heap.str("one")}), program.list({})},
                             {program.instance(key_type), program.list({})},
                             {program.instance(key_type), program.list({program.list({})})},
                             {program.list({}), program.list({})}});
        const Address set = heap.set({heap.str("in a set"), heap.tuple({heap.integer(3)})});
        program.module("app", "/srv/app/app.py",
                       {{"NODE", node},
                        {"KEYED", keyed},
                        {"Node", type},
                        {"Key", key_type},
                        {"SET", set},
                        {"class", program.list({})},
                        {"two words", program.list({})},
                        {"main", program.list({})}});
        program.module("app.sub", "/srv/app/sub.py", {{"KEYED", program.list({})}});
        program.module("not-typed", "/srv/app/not-typed.py", {{"ROWS", program.list({})}});
        program.module("__main__", "/srv/app/run.py",
                       {{"app", program.list({program.list({})})}, {"NODE", program.list({})}});
        program.call("main",
                     {{"rows", program.cell(program.list({program.list({})}))}, {".0", program.list({})}});
        program.call("main.<locals>.inner",
                     {{"source", program.generator("produce", {{"item", program.list({})},
                                                               {"kept", program.cell(program.list({}))}})}});
        program.call("<lambda>", {{"x", program.list({})}});
        program.start_thread("worker");
        program.call("main", {{"rows", program.list({program.list({})})}});
        program.run_body("Class", program.dict({{"attribute", program.list({})}}));
        program.start_interpreter();
        program.module("app", "/srv/app/app.py",
                       {{"ONLY_HERE", program.list({})}, {"NODE", program.list({})}});
    }
};

}  // namespace

TEST_CASE("why: every expression that is printed leads to its object", "[program][why]") {
    Everything made;
    const Analysed analysed(made.program);
    std::size_t asked = 0;
    for (ObjectId object{0}; object < analysed.heap.snapshot().object_count(); ++object) {
        const WhyResult result = why(analysed.graph, analysed.sizes, object, {});
        for (const WhyPath& path : result.paths) {
            const std::string typed = text(path);
            INFO(typed);
            const std::vector<ObjectId> found = find_expression(analysed.heap, typed).objects;
            CHECK(expression_problem(typed) == "");
            // A name in __main__ may be that of a module.
            CHECK(std::find(found.begin(), found.end(), object) != found.end());
            CHECK((found.size() == 1 || typed == "app"));
            ++asked;
        }
    }
    CHECK(asked > 200);
}

TEST_CASE("references: each whose name can be typed is found by it", "[program][expressions]") {
    Everything made;
    const Analysed analysed(made.program);
    std::size_t asked = 0;
    for (ObjectId object{0}; object < analysed.heap.snapshot().object_count(); ++object)
        analysed.heap.visit_references(object, [&](const Reference& reference) {
            const ObjectId target = analysed.heap.snapshot().find(reference.target);
            if (target == no_object || !can_be_typed(reference.step)) return;
            const std::string typed = fmt::format(
                "{:#x}{}", analysed.heap.snapshot().address_of(object).value, notation(reference.step));
            INFO(typed);
            CHECK(expression_problem(typed) == "");
            const std::vector<ObjectId> found = find_expression(analysed.heap, typed).objects;
            CHECK(std::find(found.begin(), found.end(), target) != found.end());
            ++asked;
        });
    CHECK(asked > 250);
}

TEST_CASE("dominators: the expression of each row leads to its object", "[program][dominators]") {
    Everything made;
    const Analysed analysed(made.program);
    DominatorsQuery query;
    query.limit = 0;
    query.depth = 20;
    const DominatorsResult result = dominators(analysed.graph, analysed.sizes, query);
    std::size_t asked = 0;
    const std::function<void(const DominatorNode&)> check = [&](const DominatorNode& node) {
        std::uint64_t below = node.folded_retained;
        for (const DominatorNode& child : node.children) {
            below += child.retained;
            check(child);
        }
        if (node.node != analysed.graph.root()) CHECK(below <= node.retained);
        if (!node.object || node.expression.root.empty()) return;
        std::string typed = node.expression.root;
        for (std::size_t i = node.expression.first; i < node.expression.steps.size(); ++i)
            typed += notation(node.expression.steps[i].name);
        INFO(typed);
        const std::vector<ObjectId> found = find_expression(analysed.heap, typed).objects;
        CHECK(std::find(found.begin(), found.end(), node.object->id) != found.end());
        ++asked;
    };
    check(result.top);
    CHECK(asked > 50);
}
