// What keeps an object alive, in whole programs: roots, the steps down, what paths may be asked to avoid,
// garbage. Expressions that `why` prints are looked up again, and must lead back to the object.

#include "analysis/why.h"

#include "analysis/expression.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

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
