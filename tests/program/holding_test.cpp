// Who owns objects: the groups of roots, their effect on retained sizes and dominators, and the attributes
// that hold objects.

#include "analysis/dominators.h"
#include "analysis/holders.h"
#include "analysis/holding/root_paths.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>
#include <numeric>

using namespace heapsift;
using namespace heapsift::test;

namespace {

const DominatorNode* child_called(const DominatorNode& node, const std::string& group) {
    for (const DominatorNode& child : node.children)
        if (child.group == group) return &child;
    return nullptr;
}

}  // namespace

TEST_CASE("groups: by where a module's file lies: the program's own, a package, the library",
          "[program][groups]") {
    ProgramHeap program;
    const Address own = program.list({}), package = program.list({}), library = program.list({}),
                  shared = program.list({}), local = program.list({});
    program.module("app.models", "/srv/app/models.py", {{"OWN", own}, {"SHARED", shared}});
    program.module("pack.core", "/usr/lib/python3/dist-packages/pack/core.py",
                   {{"TABLE", package}, {"SHARED", shared}});
    program.module("json", "/usr/lib/python3.13/json/__init__.py", {{"_cache", library}});
    program.call("main", {{"rows", local}});
    const Analysed analysed(program);
    CHECK(analysed.group(own) == "app.models");
    CHECK(analysed.group(package) == "pack");
    CHECK(analysed.group(library) == "Python and its library");
    CHECK(analysed.group(shared) == "several");
    CHECK(analysed.group(local).starts_with("thread "));
}

TEST_CASE("groups: what only memory of C code points at is native's", "[program][groups]") {
    ProgramHeap program;
    const Address held = program.list({program.heap.real(2.5)});
    program.hold_natively(held);
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    CHECK(analysed.group(held) == "native");
    CHECK(analysed.graph.reach(analysed.id(held)) == Reach::named);
}

TEST_CASE("retained: a container has its own memory and that of what it alone holds, to the byte",
          "[program][retained]") {
    ProgramHeap program;
    const Address type = program.python_class("Session", {"rows", "peer"});
    const Address shared = program.heap.real(9), own = program.heap.real(8);
    const Address rows = program.list({own, shared});
    const Address session = program.instance(type, {rows});
    program.module("app", "/srv/app/app.py", {{"Session", type}, {"SESSION", session}, {"SHARED", shared}});
    const Analysed analysed(program);
    const auto memory = [&](Address object) { return analysed.memory(object); };
    CHECK(analysed.retained.memory(analysed.id(session)) == memory(session) + memory(rows) + memory(own));
    CHECK(analysed.retained.memory(analysed.id(shared)) == memory(shared));
    CHECK(analysed.retained.count(analysed.id(session)) == 3);
    CHECK(analysed.retained.dominates(analysed.id(session), analysed.id(own)));
    CHECK_FALSE(analysed.retained.dominates(analysed.id(session), analysed.id(shared)));
    const std::vector<ObjectId> both = {analysed.id(session), analysed.id(shared)};
    CHECK(retained_by(analysed.graph, both).size() == 4);
}

TEST_CASE("retained: all groups together retain every byte of every object", "[program][retained]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address one = program.instance(type), two = program.instance(type, {one});
    program.set_slot(one, 0, two);  // garbage
    program.module("app", "/srv/app/app.py",
                   {{"Node", type}, {"ROWS", program.list({program.heap.str("text")})}});
    const Analysed analysed(program);
    std::uint64_t all = 0;
    for (ObjectId object{0}; object < analysed.heap.snapshot().object_count(); ++object)
        all += analysed.heap.facts(object).memory;
    CHECK(analysed.retained.memory(analysed.graph.root()) == all);
    std::uint64_t below = 0;
    for (const NodeId child : analysed.retained.children(analysed.graph.root()))
        below += analysed.retained.memory(child);
    CHECK(below == all);
    CHECK(analysed.graph.unreachable_count() == 2);
}

TEST_CASE("dominators: below a module stands what its globals alone hold, the largest first",
          "[program][dominators]") {
    ProgramHeap program;
    const Address large = program.list(std::vector<Address>(300, program.heap.none()));
    const Address small = program.list({program.heap.none()});
    program.module("app", "/srv/app/app.py", {{"SMALL", small}, {"LARGE", large}});
    const Analysed analysed(program);
    const DominatorsResult result = dominators(analysed.graph, analysed.sizes, {});
    const DominatorNode* app = child_called(result.top, "app");
    REQUIRE(app != nullptr);
    CHECK(app->group_kind == GroupKind::module);
    const auto place = [&](Address object) {
        return std::find_if(app->children.begin(), app->children.end(), [&](const DominatorNode& child) {
            return child.object && child.object->address == object;
        });
    };
    REQUIRE(place(large) != app->children.end());
    REQUIRE(place(small) != app->children.end());
    CHECK(place(large) < place(small));
    CHECK(place(large)->retained == analysed.memory(large));
    const std::uint64_t children =
        std::accumulate(app->children.begin(), app->children.end(), app->folded_retained,
                        [](std::uint64_t sum, const DominatorNode& child) { return sum + child.retained; });
    CHECK(children <= app->retained);
    CHECK(std::is_sorted(app->children.begin(), app->children.end(),
                         [](const auto& a, const auto& b) { return a.retained > b.retained; }));
}

TEST_CASE("dominators: a linked list is one row with the length of its run", "[program][dominators]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    Address head;
    for (int i = 0; i < 50; ++i) head = program.instance(type, {Address(), head});
    program.module("app", "/srv/app/app.py", {{"Node", type}, {"HEAD", head}});
    const Analysed analysed(program);
    const DominatorsResult result = dominators(analysed.graph, analysed.sizes, {});
    const DominatorNode* app = child_called(result.top, "app");
    REQUIRE(app != nullptr);
    const auto node = std::find_if(app->children.begin(), app->children.end(), [&](const DominatorNode& n) {
        return n.object && n.object->address == head;
    });
    REQUIRE(node != app->children.end());
    CHECK(node->run >= 48);
    CHECK(notation(node->run_name) == ".next");
    CHECK(node->retained == 50 * analysed.memory(head));
}

TEST_CASE("dominators: two registries of the same objects hold them jointly", "[program][dominators]") {
    ProgramHeap program;
    const Address type = program.python_class("Job", {"text"});
    std::vector<Address> jobs;
    for (int i = 0; i < 40; ++i) jobs.push_back(program.instance(type, {program.heap.str("a job")}));
    const Address by_name = program.list(jobs), by_age = program.list(jobs);
    program.module("app", "/srv/app/app.py", {{"BY_NAME", by_name}, {"BY_AGE", by_age}});
    const Analysed analysed(program);
    CHECK(analysed.retained.memory(analysed.id(by_name)) == analysed.memory(by_name));
    const std::vector<JointHolders> joint = joint_holders(
        analysed.retained, analysed.graph.node_of(analysed.retained.group(analysed.id(jobs.front()))), 0, 5);
    const auto of_jobs =
        std::find_if(joint.begin(), joint.end(), [](const JointHolders& j) { return j.type == "app.Job"; });
    REQUIRE(of_jobs != joint.end());
    CHECK(of_jobs->count == 40);
    CHECK(of_jobs->holders.size() == 2);
    CHECK(of_jobs->joint == of_jobs->retained - analysed.memory(by_name) - analysed.memory(by_age));
}

TEST_CASE("root paths: a person's way costs less than one through what explains nothing",
          "[program][paths]") {
    ProgramHeap program;
    const Address node = program.instance(program.python_class("Node", {"value", "next"}));
    const Address direct = program.list({node});
    const Address deep = program.list({program.list({program.list({node})})});
    program.module("app", "/srv/app/app.py", {{"DIRECT", direct}, {"DEEP", deep}});
    const Analysed analysed(program);
    const RootPaths paths = root_paths(analysed.graph, {});
    REQUIRE(paths.found(analysed.id(node)));
    CHECK(paths.previous(analysed.id(node)) == analysed.id(direct));
    CHECK(paths.cost(analysed.id(node)) == paths.cost(analysed.id(direct)) + 1);
    CHECK(paths.path(analysed.id(node)).back() == analysed.id(node));
    const RootPaths around = root_paths(analysed.graph, {.without = {analysed.id(direct)}});
    CHECK(around.cost(analysed.id(node)) == paths.cost(analysed.id(node)) + 2);
    CHECK_FALSE(around.found(analysed.id(direct)));
    const RootPaths to_one = root_paths(analysed.graph, {}, {analysed.id(direct)});
    CHECK(to_one.cost(analysed.id(direct)) == paths.cost(analysed.id(direct)));
    CHECK(to_one.order().size() <= paths.order().size());
}

TEST_CASE("holders: objects are counted by the type and attribute that hold them", "[program][holders]") {
    ProgramHeap program;
    const Address leaf = program.python_class("Leaf", {"value"});
    const Address tree = program.python_class("Tree", {"leaves", "best"});
    std::vector<Address> leaves, trees;
    for (int i = 0; i < 12; ++i) leaves.push_back(program.instance(leaf));
    for (int i = 0; i < 3; ++i)
        trees.push_back(program.instance(
            tree, {program.list({leaves[4 * i], leaves[4 * i + 1], leaves[4 * i + 2]}), leaves[4 * i + 3]}));
    program.module("app", "/srv/app/app.py", {{"TREES", program.list(trees)}});
    const Analysed analysed(program);
    const TypeId type = analysed.heap.snapshot().type_of(analysed.id(leaves.front()));
    const HoldersResult result = holders(analysed.graph, {type}, {}, 0);
    CHECK(result.total_count == 12);
    REQUIRE(result.rows.size() == 2);
    CHECK(result.rows[0].holder == "app.Tree");
    CHECK(result.rows[0].attribute == "leaves[*]");
    CHECK(result.rows[0].count == 9);
    CHECK(result.rows[1].attribute == "best");
    CHECK(result.rows[1].count == 3);
    CHECK(result.rows[1].retained == 3 * analysed.memory(leaves[3]));
    std::vector<ObjectId> best;
    for (int i = 0; i < 3; ++i) best.push_back(analysed.id(leaves[4 * i + 3]));
    std::sort(best.begin(), best.end());
    CHECK(held_by(analysed.graph, "app.Tree.best") == best);
}
