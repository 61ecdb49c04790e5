// The tree of dominators as a person reads it: which levels are one line, and what stands for what is left out.

#include "analysis/dominators.h"
#include "analysis/joint_holders.h"
#include "analysis/object_paths.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("dominators: what has nearly all of its dominator is no level; what is left out has a type",
          "[program][dominators]") {
    ProgramHeap program;
    const Address type = program.class_with("Bus", {.attributes = {"subs"}});
    std::vector<Address> rows;
    for (int i = 0; i < 40; ++i) rows.push_back(program.list({program.heap.bytes(std::string(3000, 'x'))}));
    const Address paid = program.list(rows), subs = program.dict({{"paid", paid}}),
                  bus = program.instance_with(type, {subs});
    program.module("app", "/srv/app/app.py", {{"Bus", type}, {"BUS", bus}});
    const Analysed analysed(program);
    const DominatorsResult found =
        dominators(analysed.graph, analysed.sizes,
                   {.depth = 3, .limit = 20, .least = analysed.memory(paid) + 20 * 3000});
    const auto app = std::find_if(found.top.children.begin(), found.top.children.end(),
                                  [](const DominatorNode& node) { return node.group == "app"; });
    REQUIRE(app != found.top.children.end());
    const DominatorNode* node = &app->children.at(0);
    CHECK(node->object->address == bus);
    for (const Address below : {subs, paid}) {
        while (node->object->address != below) {
            REQUIRE(node->children.size() == 1);
            node = &node->children[0];
        }
    }
    CHECK(node->children.empty());
    CHECK(node->folded == 40);
    CHECK(node->folded_type_name == "list");
    CHECK(node->folded_of_type == 40);
    CHECK(node->folded_of_type_retained == node->folded_retained);
    REQUIRE(node->folded_types.size() == 1);
    CHECK(node->folded_types[0].name == "list");
    CHECK(node->folded_types[0].count == 40);
    CHECK(node->folded_types[0].retained == node->folded_retained);
    CHECK(node->folded_threads == 0);
}

TEST_CASE("steps between objects: the same whatever was read before, and dropped meanwhile",
          "[program][dominators]") {
    constexpr std::size_t many = 300;  // more than the sources of one path, which are never dropped
    ProgramHeap program;
    std::vector<Address> values;
    for (int i = 0; i < 5; ++i) values.push_back(program.heap.real(i));
    std::vector<Address> holders;
    for (std::size_t i = 0; i < many; ++i)
        holders.push_back(
            i % 2 == 0 ? program.list(values)
                       : program.dict(
                             {{"a" + std::to_string(i), values[0]}, {"b", values[i % 5]}, {"c", values[4]}}));
    program.module("app", "/srv/app/app.py", {{"ALL", program.list(holders)}});
    const Analysed analysed(program);
    const HeapReader& heap = analysed.graph.heap();
    std::vector<StepsBetween::Pair> pairs;
    for (const Address holder : holders)
        for (const Address value : values) {
            const StepsBetween::Pair pair{analysed.id(holder), analysed.id(value)};
            if (step_between(heap, pair.source, pair.target).step.known()) pairs.push_back(pair);
        }
    REQUIRE(pairs.size() > many * 3);
    const std::size_t most = GENERATE(0, 10, 100'000);
    const StepsBetween steps(heap, pairs, most);
    for (std::size_t i = 0; i < 4 * pairs.size(); ++i) {
        const StepsBetween::Pair& pair = pairs[i * 7919 % pairs.size()];
        CHECK(steps.of(pair.source, pair.target).name() ==
              step_between(heap, pair.source, pair.target).name());
    }
}

TEST_CASE("joint holders: functions that one module imported from another hold as themselves",
          "[program][dominators]") {
    // What two functions hold, which both modules have; of the library's and of classes it is said by module.
    const std::string kind = GENERATE("functions", "classes", "of the library");
    ProgramHeap program;
    const Address type = program.python_class("Job", {"value"});
    std::vector<Address> jobs;
    for (int i = 0; i < 40; ++i) jobs.push_back(program.instance(type, {program.heap.real(i)}));
    const auto holder = [&](const std::string& name) {
        const Address runs = program.list(jobs);
        return kind == "classes" ? program.class_with(name, {.members = {{"runs", runs}}})
                                 : program.function(name, {{"runs", program.cell(runs)}});
    };
    const Address clean = holder("clean"), merge = holder("merge");
    const bool library = kind == "of the library";
    program.module("steps",
                   library ? "/usr/lib/python3/dist-packages/steps/__init__.py" : "/srv/app/steps.py",
                   {{"clean", clean}, {"merge", merge}});
    program.module("__main__", "/srv/app/run.py", {{"clean", clean}, {"merge", merge}});
    const Analysed analysed(program);
    const std::vector<JointHolders> joint =
        JointHolderFinder(analysed.retained).find(analysed.graph.root(), 0, 20);
    const auto of_jobs =
        std::find_if(joint.begin(), joint.end(), [](const JointHolders& j) { return j.type == "app.Job"; });
    REQUIRE(of_jobs != joint.end());
    CHECK(of_jobs->count == 40);
    std::vector<NodeId> expected;
    for (const Address one : {clean, merge}) expected.push_back(HeapGraph::node_of(analysed.id(one)));
    std::sort(expected.begin(), expected.end());
    CHECK((of_jobs->by == expected) == (kind == "functions"));
    CHECK(of_jobs->by.size() == 2);
    CHECK(of_jobs->groups.empty() == (kind == "functions"));
}
