// Who owns objects: retained sizes, dominators, and the attributes that hold objects.

#include "analysis/dominators.h"
#include "analysis/holders.h"
#include "analysis/holding/root_paths.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace heapsift;
using namespace heapsift::test;

namespace {

const DominatorNode* child_of(const DominatorNode& node, Address object) {
    for (const DominatorNode& child : node.children)
        if (child.object && child.object->address == object) return &child;
    return nullptr;
}

const DominatorNode* child_called(const DominatorNode& node, const std::string& group) {
    for (const DominatorNode& child : node.children)
        if (child.group == group) return &child;
    return nullptr;
}

}  // namespace

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
    CHECK(retained_by(analysed.graph, both).objects.size() == 4);
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
    const std::vector<JointHolders> joint =
        JointHolderFinder(analysed.retained)
            .find(analysed.graph.node_of(analysed.retained.group(analysed.id(jobs.front()))), 0, 5);
    const auto of_jobs =
        std::find_if(joint.begin(), joint.end(), [](const JointHolders& j) { return j.type == "app.Job"; });
    REQUIRE(of_jobs != joint.end());
    CHECK(of_jobs->count == 40);
    CHECK(of_jobs->holders.size() == 2);
    CHECK(of_jobs->joint == 40 * analysed.retained.memory(analysed.id(jobs.front())));
    std::uint64_t together = 0;  // each type is an entry of its own: with the jobs goes their class
    for (const JointHolders& entry : joint)
        if (entry.by == of_jobs->by) together += entry.joint;
    CHECK(together == of_jobs->retained - analysed.memory(by_name) - analysed.memory(by_age));
}

TEST_CASE("dominators: where most is held jointly a reader goes on there", "[program][dominators]") {
    ProgramHeap program;
    const Address type = program.python_class("Job", {"text"});
    std::vector<Address> jobs;
    for (int i = 0; i < 40; ++i)
        jobs.push_back(program.instance(type, {program.heap.str(std::string(5000, 'x'))}));
    program.module("app", "/srv/app/app.py",
                   {{"BY_NAME", program.list(jobs)}, {"BY_AGE", program.list(jobs)}});
    const Analysed analysed(program);
    const DominatorsResult tree = dominators(analysed.graph, analysed.sizes, {});
    CHECK(std::find(jobs.begin(), jobs.end(), tree.next) != jobs.end());
}

TEST_CASE("holders: names that are no identifiers are data: one holder, and no name of theirs is told",
          "[program][holders]") {
    ProgramHeap program;
    const Address type = program.python_class("Job", {"text"});
    ProgramHeap::Named globals{{"Job", type}};
    for (int i = 0; i < 5; ++i)
        globals.emplace_back("customer " + std::to_string(i), program.list({program.instance(type)}));
    globals.emplace_back("JOBS", program.list({program.instance(type)}));
    program.module("app", "/srv/app/app.py", globals);
    const Analysed analysed(program);
    const HoldersResult result = holders(analysed.graph, {analysed.heap.snapshot().types.find(type)}, {}, 0);
    REQUIRE(result.rows.size() == 2);
    CHECK(result.rows[0].holder == "app");
    CHECK(result.rows[0].attribute == "__dict__['*'][*]");
    CHECK(result.rows[0].count == 5);
    CHECK(result.rows[1].attribute == "JOBS[*]");
    CHECK(result.rows[0].expression.find("customer") == std::string::npos);
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

TEST_CASE("holders: what a class has as an attribute is held by that class, not by `type`",
          "[program][holders]") {
    ProgramHeap program;
    const Address event = program.python_class("Event", {"value"});
    const Address one = program.instance(event), two = program.instance(event);
    const Address bus =
        program.class_with("Bus", {.attributes = {}, .members = {{"subs", program.list({one, two})}}});
    program.module("app", "/srv/app/app.py", {{"Bus", bus}, {"Event", event}});
    const Analysed analysed(program);
    const TypeId type = analysed.heap.snapshot().type_of(analysed.id(one));
    const HoldersResult result = holders(analysed.graph, {type}, {}, 0, {}, nullptr, &analysed.sizes);
    REQUIRE(result.rows.size() == 1);
    CHECK(result.rows[0].holder == "app.Bus");
    CHECK(result.rows[0].attribute == "subs[*]");
    CHECK(result.rows[0].expression == "app.Bus.subs[*]");
    CHECK(result.rows[0].retained == analysed.memory(one) + analysed.memory(two));
    CHECK(held_by(analysed.graph, "app.Bus.subs[*]").size() == 2);

    // The dict of a class retains all of that, which tells nobody anything: it comes last, and not among a few.
    const HoldersResult all = holders(analysed.graph, {}, {}, 0, {}, nullptr, &analysed.sizes);
    const auto dicts = std::find_if(all.rows.begin(), all.rows.end(), [](const HolderRow& row) {
        return row.holder == "type" && row.attribute == "__dict__";
    });
    REQUIRE(dicts != all.rows.end());
    CHECK(dicts->retained.value_or(0) > *result.rows[0].retained);
    const auto list = std::find_if(all.rows.begin(), all.rows.end(), [](const HolderRow& row) {
        return row.holder == "app.Bus" && row.attribute == "subs";
    });
    REQUIRE(list != all.rows.end());
    CHECK(list < dicts);
    const HoldersResult few = holders(analysed.graph, {}, {}, 5, {}, nullptr, &analysed.sizes);
    CHECK(std::none_of(few.rows.begin(), few.rows.end(), [](const HolderRow& row) {
        return row.holder == "type" && row.attribute == "__dict__";
    }));
}

TEST_CASE("dominators: below a thread stand its calls, and what each local of these retains",
          "[program][dominators]") {
    ProgramHeap program;
    const Address item = program.list({}), shared = program.list({}), plain = program.list({item});
    program.module("app", "/srv/app/app.py", {});
    program.call("main", {{"shared", program.cell(shared)}});
    program.call("work", {{"plain", plain}});
    const Analysed analysed(program);
    const DominatorsResult result = dominators(analysed.graph, analysed.sizes, {.depth = 4});
    const DominatorNode* thread = child_called(result.top, "thread 100");
    REQUIRE(thread != nullptr);
    CHECK(thread->group_kind == GroupKind::thread);
    const DominatorNode *work = child_called(*thread, "work(), app.py"),
                        *main = child_called(*thread, "main(), app.py");
    REQUIRE((work && main));
    CHECK(work->is_frame);
    const DominatorNode* local = child_of(*work, plain);
    REQUIRE(local != nullptr);
    CHECK(notation(local->name) == ".plain");
    CHECK(local->retained == analysed.memory(plain) + analysed.memory(item));
    CHECK(local->expression.root == "work()");
    CHECK(child_of(*local, item) != nullptr);
}

TEST_CASE("dominators: asked of one object, its group is named; what a limit leaves out is summed up",
          "[program][dominators]") {
    ProgramHeap program;
    std::vector<Address> rows;
    for (int i = 0; i < 10; ++i) rows.push_back(program.list({program.heap.real(i)}));
    const Address table = program.list(rows);
    program.module("app", "/srv/app/app.py", {{"TABLE", table}});
    const Analysed analysed(program);
    const std::uint64_t row = analysed.retained.memory(analysed.id(rows[0]));
    DominatorsQuery query;
    query.object = analysed.id(table);
    query.limit = 4;
    const DominatorsResult cut = dominators(analysed.graph, analysed.sizes, query);
    CHECK(cut.group == "app");
    REQUIRE(cut.top.object);
    CHECK(cut.top.object->address == table);
    CHECK(cut.top.children.size() == 4);
    CHECK(cut.top.folded == 6);
    CHECK(cut.top.folded_retained == 6 * row);
    CHECK(cut.top.retained == analysed.memory(table) + 10 * row);
    CHECK(cut.next == rows[0]);
    CHECK(notation(cut.top.children[0].name) == "[0]");
    query.least = row + 1;
    const DominatorsResult large = dominators(analysed.graph, analysed.sizes, query);
    CHECK(large.top.children.empty());
    CHECK(large.top.folded == 10);
    CHECK(large.next.is_null());
    query.least = 0;
    query.depth = 0;
    CHECK(dominators(analysed.graph, analysed.sizes, query).top.folded == 10);
}

TEST_CASE("dominators: a module's row has what its variables hold together beside what each holds alone",
          "[program][dominators]") {
    ProgramHeap program;
    const Address type = program.python_class("Job", {"text"});
    std::vector<Address> jobs;
    for (int i = 0; i < 40; ++i) jobs.push_back(program.instance(type, {program.heap.str("a job")}));
    const Address by_name = program.list(jobs), by_age = program.list(jobs);
    program.module("app", "/srv/app/app.py", {{"BY_NAME", by_name}, {"BY_AGE", by_age}, {"Job", type}});
    const Analysed analysed(program);
    const DominatorsResult result = dominators(analysed.graph, analysed.sizes, {});
    const DominatorNode* app = child_called(result.top, "app");
    REQUIRE(app != nullptr);
    for (const DominatorNode& child : app->children)
        if (child.object) CHECK(child.object->type != "app.Job");  // they are in the joint row
    REQUIRE(app->joint.size() == 1);
    const JointHolders& joint = app->joint[0];
    CHECK(joint.type == "app.Job");
    CHECK(joint.count == 40);
    std::vector<std::string> expressions;
    for (const PathExpression& expression : joint.expressions)
        expressions.push_back(expression.root + notation(expression.steps.at(0).name));
    std::sort(expressions.begin(), expressions.end());
    CHECK(expressions == std::vector<std::string>{"app.BY_AGE", "app.BY_NAME"});
}

TEST_CASE("dominators: objects that refer to each other are held together as one", "[program][dominators]") {
    ProgramHeap program;
    const Address type = program.python_class("Link", {"next", "previous"});
    std::vector<Address> links;
    for (int i = 0; i < 30; ++i) links.push_back(program.instance(type));
    for (std::size_t i = 1; i < links.size(); ++i) {
        program.set_slot(links[i - 1], 0, links[i]);
        program.set_slot(links[i], 1, links[i - 1]);
    }
    const Address head = program.list({links.front()}), tail = program.list({links.back()});
    program.module("app", "/srv/app/app.py", {{"Link", type}, {"HEAD", head}, {"TAIL", tail}});
    const Analysed analysed(program);
    const std::vector<JointHolders> joint =
        JointHolderFinder(analysed.retained)
            .find(analysed.graph.node_of(analysed.retained.group(analysed.id(links[7]))), 0, 5);
    REQUIRE(joint.size() == 1);
    CHECK(joint[0].type == "app.Link");
    CHECK(joint[0].count == 30);
    REQUIRE(joint[0].holders.size() == 2);
    CHECK(joint[0].joint == 30 * analysed.memory(links[0]));
    CHECK(joint[0].retained == joint[0].joint + analysed.memory(head) + analysed.memory(tail));
}

TEST_CASE("dominators: what several groups hold has a row of its own, with their names",
          "[program][dominators]") {
    ProgramHeap program;
    std::vector<Address> rows;
    for (int i = 0; i < 50; ++i) rows.push_back(program.list({program.heap.real(i)}));
    const Address table = program.list(rows);
    program.module("app.models", "/srv/app/models.py", {{"TABLE", table}});
    program.module("pack", "/usr/lib/python3/dist-packages/pack/__init__.py", {{"SEEN", table}});
    const Analysed analysed(program);
    const DominatorsResult result = dominators(analysed.graph, analysed.sizes, {});
    const DominatorNode* shared = child_called(result.top, "shared by several groups");
    REQUIRE(shared != nullptr);
    CHECK(shared->retained >= analysed.retained.memory(analysed.id(table)));
    CHECK(result.loose == shared->retained);
    REQUIRE(shared->joint.size() == 1);
    CHECK(shared->joint[0].groups == std::vector<std::string>{"app.models", "pack"});
    CHECK(shared->joint[0].type == "list");
    CHECK(shared->joint[0].joint == analysed.retained.memory(analysed.id(table)));
    CHECK_FALSE(shared->joint[0].begins_with_held);
    DominatorsQuery one;
    one.object = analysed.id(table);
    CHECK(dominators(analysed.graph, analysed.sizes, one).group == "shared by several groups");
}

TEST_CASE("dominators: the items of a list that two hold are theirs, though one item is held by many",
          "[program][dominators]") {
    ProgramHeap program;
    const Address known = program.heap.str("known to all");
    std::vector<Address> rows;
    for (int i = 0; i < 50; ++i) rows.push_back(program.list({program.heap.real(i)}));
    rows.push_back(known);
    const Address table = program.list(rows), copy = program.list(rows);
    program.module("app.models", "/srv/app/models.py", {{"TABLE", table}, {"COPY", copy}});
    program.module("pack", "/usr/lib/python3/dist-packages/pack/__init__.py", {{"SEEN", table}});
    for (int i = 0; i < 12; ++i)
        program.module("extra" + std::to_string(i), "/srv/app/extra.py", {{"NAME", known}});
    const Analysed analysed(program);
    const DominatorsResult result = dominators(analysed.graph, analysed.sizes, {});
    const DominatorNode* shared = child_called(result.top, "shared by several groups");
    REQUIRE(shared != nullptr);
    REQUIRE_FALSE(shared->joint.empty());
    CHECK(shared->joint[0].groups == std::vector<std::string>{"app.models", "pack"});
    CHECK(shared->joint[0].count == 51);  // with the table
    CHECK(shared->joint[0].example == rows[0]);
    std::uint64_t told = shared->folded_retained;
    for (const JointHolders& joint : shared->joint) told += joint.joint;
    CHECK(told == shared->retained);
}

TEST_CASE("dominators: a suspended generator says where it stands", "[program][dominators]") {
    ProgramHeap program;
    const Address item = program.list({}), generator = program.generator("produce", {{"item", item}});
    program.module("app", "/srv/app/app.py", {{"SOURCE", generator}});
    const Analysed analysed(program);
    const DominatorsResult result = dominators(analysed.graph, analysed.sizes, {});
    const DominatorNode* app = child_called(result.top, "app");
    REQUIRE(app != nullptr);
    const DominatorNode* source = child_of(*app, generator);
    REQUIRE(source != nullptr);
    CHECK(source->remark == "suspended in produce(), app.py");
    CHECK(notation(source->name) == ".SOURCE");
    CHECK(child_of(*source, item) != nullptr);
}

TEST_CASE("holders: what locals of calls hold is told by the call and the local", "[program][holders]") {
    ProgramHeap program;
    const Address leaf = program.python_class("Leaf", {"value"});
    std::vector<Address> leaves;
    for (int i = 0; i < 6; ++i) leaves.push_back(program.instance(leaf));
    program.module("app", "/srv/app/app.py", {{"Leaf", leaf}, {"ROOTS", program.list({leaves[5]})}});
    program.call("work", {{"rows", program.list({leaves[0], leaves[1], leaves[2]})}, {"current", leaves[3]}});
    program.start_thread("worker");
    program.call("work", {{"rows", program.list({leaves[4]})}});
    const Analysed analysed(program);
    const TypeId type = analysed.heap.snapshot().type_of(analysed.id(leaves.front()));
    const HoldersResult result = holders(analysed.graph, {type}, {}, 0);
    std::map<std::string, std::uint64_t> counts;
    for (const HolderRow& row : result.rows) counts[row.holder + "." + row.attribute] = row.count;
    CHECK(counts == std::map<std::string, std::uint64_t>{
                        {"work().rows[*]", 4}, {"work().current", 1}, {"app.ROOTS[*]", 1}});
}

TEST_CASE("holders: what several hold counts under one, with the others beside it", "[program][holders]") {
    ProgramHeap program;
    const Address job = program.python_class("Job", {"text", "parent"});
    const Address registry = program.python_class("Registry", {"jobs"}),
                  index = program.python_class("Index", {"by_age"});
    std::vector<Address> jobs;
    for (int i = 0; i < 6; ++i) jobs.push_back(program.instance(job, {program.heap.str("a job")}));
    const Address child = program.instance(job, {program.heap.str("child"), jobs[0]});
    program.set_slot(jobs[0], 0, child);  // its parent goes with it, and is no holder
    const Address first = program.instance(registry, {program.list(jobs)}),
                  second = program.instance(index, {program.list({jobs[0], jobs[1], jobs[2], jobs[3]})});
    program.module(
        "app", "/srv/app/app.py",
        {{"Job", job}, {"Registry", registry}, {"Index", index}, {"FIRST", first}, {"SECOND", second}});
    const Analysed analysed(program);
    const TypeId type = analysed.heap.snapshot().type_of(analysed.id(child));
    const HoldersResult result = holders(analysed.graph, {type}, {}, 0, {}, nullptr, &analysed.sizes);
    std::map<std::string, std::uint64_t> counts, others;
    for (const HolderRow& row : result.rows) {
        counts[row.holder + "." + row.attribute] += row.count;
        CHECK(row.is_shared == (row.also_held > 0));
        CHECK_FALSE(row.and_others);
        for (const OtherHolder& other : row.also_held_by)
            others[row.attribute + " also " + other.holder + "." + other.attribute] = other.count;
    }
    CHECK(counts == std::map<std::string, std::uint64_t>{{"app.Registry.jobs[*]", 6}, {"app.Job.text", 1}});
    CHECK(others == std::map<std::string, std::uint64_t>{{"jobs[*] also app.Index.by_age[*]", 4}});
    CHECK(holders(analysed.graph, {type}, {}, 0).rows.at(0).also_held_by.empty());  // not asked for
}

TEST_CASE("holders: what a container holds is held by all that hold the container", "[program][holders]") {
    ProgramHeap program;
    const Address event = program.python_class("Event", {"value"});
    const Address cache = program.python_class("Cache", {"store"}),
                  other = program.python_class("Other", {"copy"});
    std::vector<Address> events;
    for (int i = 0; i < 5; ++i) events.push_back(program.instance(event));
    const Address store = program.list({program.list(events)});
    program.module("app", "/srv/app/app.py",
                   {{"Event", event},
                    {"Cache", cache},
                    {"Other", other},
                    {"A", program.instance(cache, {store})},
                    {"B", program.instance(other, {store})}});
    program.call("work", {{"current", events[4]}});
    const Analysed analysed(program);
    const TypeId type = analysed.heap.snapshot().type_of(analysed.id(events.front()));
    const HoldersResult result = holders(analysed.graph, {type}, {}, 0, {}, nullptr, &analysed.sizes);
    std::map<std::string, std::uint64_t> held;
    for (const HolderRow& row : result.rows) {
        const std::string owner = row.holder + "." + row.attribute;
        held[owner] = row.count;
        for (const OtherHolder& one : row.also_held_by)
            held[owner + " and " + one.holder + "." + one.attribute] = one.count;
    }
    CHECK(held == std::map<std::string, std::uint64_t>{{"app.Cache.store[*][*]", 4},
                                                       {"app.Cache.store[*][*] and app.Other.copy[*][*]", 4},
                                                       {"work().current", 1},
                                                       {"work().current and app.Cache.store[*][*]", 1}});
}
