// What a thread was doing: its calls, innermost first, their locals and what these keep; and what would come
// free with a set of objects.

#include "analysis/threads.h"

#include "analysis/picture.h"
#include "analysis/retained.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("threads: calls are listed innermost first, with what each local keeps", "[program][threads]") {
    ProgramHeap program;
    const Address small = program.list({program.heap.real(1)}), shared = program.list({});
    const Address large =
        program.list({program.heap.real(2), program.heap.real(3), program.heap.real(4), shared});
    program.module("app", "/srv/app/app.py", {{"SHARED", shared}});
    program.call("main", {{"config", small}});
    program.call("work", {{"rows", large}, {"left", Address()}});
    const Analysed analysed(program);
    const ThreadsResult result = threads(analysed.heap, 0, &analysed.retained);
    REQUIRE(result.threads.size() == 1);
    const ThreadRow& thread = result.threads[0];
    REQUIRE(thread.frames.size() == 2);
    CHECK(thread.frames[0].frame.name == "work");
    CHECK(thread.frames[1].frame.name == "main");
    REQUIRE(thread.frames[0].locals.size() == 1);  // what is unbound is left out
    const LocalRow& rows = thread.frames[0].locals[0];
    CHECK(rows.name == "rows");
    CHECK(rows.object.address == large);
    CHECK(rows.object.type == "list");
    CHECK(rows.object.state == ObjectState::reachable);
    CHECK(rows.object.retained == analysed.retained.memory(analysed.id(large)));
    CHECK(thread.frames[0].retained == rows.object.retained);
    CHECK(thread.frames[1].retained == analysed.retained.memory(analysed.id(small)));
    REQUIRE(thread.retained);
    CHECK(*thread.retained >= *thread.frames[0].retained + *thread.frames[1].retained);
    REQUIRE(result.largest);
    CHECK(result.largest->function == "work");
    CHECK(result.largest->local.name == "rows");
}

TEST_CASE("threads: a limit cuts the locals, not their count; without a graph nothing is retained",
          "[program][threads]") {
    ProgramHeap program;
    program.module("app", "/srv/app/app.py", {});
    program.call("main", {{"a", program.list({})}, {"b", program.list({})}, {"c", program.list({})}});
    const Analysed analysed(program);
    const ThreadsResult result = threads(analysed.heap, 2);
    REQUIRE(result.threads.size() == 1);
    const FrameRow& frame = result.threads[0].frames.at(0);
    CHECK(frame.locals.size() == 2);
    CHECK(frame.local_count == 3);
    CHECK_FALSE(frame.retained);
    CHECK_FALSE(result.threads[0].retained);
    CHECK_FALSE(frame.locals[0].object.retained);
}

TEST_CASE("retained: a set frees what its members hold together, by type", "[program][retained]") {
    ProgramHeap program;
    const Address type = program.python_class("Job", {"value"});
    std::vector<Address> jobs;
    for (int i = 0; i < 5; ++i) jobs.push_back(program.instance(type, {program.heap.real(i)}));
    const Address by_name = program.list(jobs), by_age = program.list(jobs);
    program.module("app", "/srv/app/app.py", {{"Job", type}, {"BY_NAME", by_name}, {"BY_AGE", by_age}});
    const Analysed analysed(program);
    const std::vector<ObjectId> one{analysed.id(by_name)}, both{analysed.id(by_name), analysed.id(by_age)};
    CHECK(retained(analysed.graph, one, 0).objects == 1);
    const RetainedResult result = retained(analysed.graph, both, 0);
    CHECK(result.asked == 2);
    CHECK(result.objects == 2 + 5 + 5);  // the lists, the jobs, their floats
    CHECK(result.total_types == 3);
    REQUIRE(result.types.size() == 3);
    std::uint64_t memory = 0;
    for (const RetainedResult::Row& row : result.types) memory += row.memory;
    CHECK(memory == result.retained);
    CHECK(std::is_sorted(result.types.begin(), result.types.end(),
                         [](const auto& a, const auto& b) { return a.memory > b.memory; }));
    const RetainedResult cut = retained(analysed.graph, both, 1);
    CHECK(cut.types.size() == 1);
    CHECK(cut.total_types == 3);
    CHECK(cut.retained == result.retained);
    CHECK(cut.shown_memory == cut.types[0].memory);
}

TEST_CASE("picture: the path from the root, and who refers to what; nearest first", "[program][picture]") {
    ProgramHeap program;
    const Address leaf = program.heap.real(7);
    const Address node = program.list({leaf}), holder = program.list({node});
    program.module("app", "/srv/app/app.py", {{"HOLDER", holder}});
    const Analysed analysed(program);
    const Picture picture = picture_of(analysed.graph, analysed.sizes, analysed.id(node), 2, 50);
    const auto place = [&](Address address) {
        const auto at = std::find_if(picture.nodes.begin(), picture.nodes.end(), [&](const PictureNode& n) {
            return n.kind == NodeKind::object && n.object.address == address;
        });
        REQUIRE(at != picture.nodes.end());
        return static_cast<std::size_t>(at - picture.nodes.begin());
    };
    CHECK(picture.of_object);
    CHECK(place(node) == 0);
    const auto joined = [&](Address source, Address target) {
        return std::any_of(picture.edges.begin(), picture.edges.end(), [&](const PictureEdge& edge) {
            return edge.source == place(source) && edge.target == place(target);
        });
    };
    CHECK(joined(holder, node));
    CHECK(joined(node, leaf));
    CHECK_FALSE(joined(leaf, node));
    CHECK(picture.nodes[place(node)].retained == analysed.retained.memory(analysed.id(node)));
    const auto group = std::find_if(picture.nodes.begin(), picture.nodes.end(),
                                    [](const PictureNode& n) { return n.kind == NodeKind::group; });
    REQUIRE(group != picture.nodes.end());
    CHECK(group->name == "app");
    const Picture top = picture_of_top(analysed.graph, analysed.sizes, 6, 3);
    REQUIRE(top.nodes.size() == 3);
    CHECK(top.nodes[0].kind == NodeKind::root);
    CHECK(top.nodes[0].retained == analysed.retained.memory(analysed.graph.root()));
    CHECK(top.nodes[1].retained >= top.nodes[2].retained);
    CHECK(top.nodes[0].left_out + top.nodes[1].left_out + top.nodes[2].left_out > 0);
}
