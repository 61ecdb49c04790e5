// The first screen, asked of whole programs: which object holds most and how it is reached, what hangs
// together, what is garbage and why it is still there.

#include "analysis/overview.h"
#include "analysis/memory.h"

#include "analysis/cycles.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

#include <algorithm>
#include <string>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::string text(const PathExpression& expression) {
    std::string result = expression.root;
    for (std::size_t i = expression.first; i < expression.steps.size(); ++i)
        result += notation(expression.steps[i].name);
    return result;
}

const TopHolder* holder_of(const std::vector<TopHolder>& holders, Address object) {
    for (const TopHolder& holder : holders)
        if (holder.object && holder.object->address == object) return &holder;
    return nullptr;
}

std::vector<Address> instances(ProgramHeap& program, Address type, int count) {
    std::vector<Address> made;
    for (int i = 0; i < count; ++i) made.push_back(program.instance(type, {program.heap.real(i)}));
    return made;
}

}  // namespace

TEST_CASE("overview: the list in a global is what holds most, with what is in it and how it is reached",
          "[program][overview]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address rows = program.list(instances(program, type, 60));
    program.module("app", "/srv/app/app.py", {{"Node", type}, {"ROWS", rows}});
    const Analysed analysed(program);
    Work work(analysed.heap);
    const OverviewResult result = overview(work, 3);
    const TopHolder* holder = holder_of(result.holders, rows);
    REQUIRE(holder != nullptr);
    CHECK(holder->retained == analysed.retained.memory(analysed.id(rows)));
    CHECK(holder->content_type == "app.Node");
    CHECK(holder->content_count == 60);
    CHECK(holder->group == "app");
    CHECK(holder->group_kind == GroupKind::module);
    CHECK(text(holder->expression) == "app.ROWS");
    CHECK(result.holders.front().retained >= holder->retained);
    CHECK(result.types.types.size() == 3);
    CHECK(result.object_memory == analysed.retained.memory(analysed.graph.root()));
    CHECK(result.garbage_memory == 0);
    CHECK(result.garbage_remark.empty());
    std::uint64_t sum = 0;
    for (const auto& row : result.memory) sum += row.bytes;
    CHECK(sum == result.mapped_bytes);
}

TEST_CASE("overview: a local of a call that runs is named with its call", "[program][overview]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    const Address rows = program.list(instances(program, type, 60));
    program.module("app", "/srv/app/app.py", {{"Node", type}});
    program.call("work", {{"rows", rows}});
    const Analysed analysed(program);
    const std::vector<TopHolder> holders = top_holders(analysed.graph, analysed.sizes, 1000, 5);
    const TopHolder* holder = holder_of(holders, rows);
    REQUIRE(holder != nullptr);
    CHECK(holder->local == "rows");
    CHECK(holder->frame.starts_with("work()"));
    CHECK(holder->group_kind == GroupKind::thread);
}

TEST_CASE("overview: a chain is its first object, with the length", "[program][overview]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    Address head = program.heap.none();
    for (int i = 0; i < 50; ++i) head = program.instance(type, {program.heap.real(i), head});
    program.module("app", "/srv/app/app.py", {{"Node", type}, {"HEAD", head}});
    const Analysed analysed(program);
    const std::vector<TopHolder> holders = top_holders(analysed.graph, analysed.sizes, 1000, 5);
    const TopHolder* holder = holder_of(holders, head);
    REQUIRE(holder != nullptr);
    CHECK(holder->remark == "a chain");
    CHECK(holder->content_count == 50);
    CHECK(text(holder->expression) == "app.HEAD");
}

TEST_CASE("overview: what a word without a name leads to is called by the object that has it",
          "[program][overview]") {
    ProgramHeap program;
    const Address type = program.python_class("Message", {"value"});
    const Address queue = program.list(instances(program, type, 60));
    const Address socket = program.object(program.heap.c_type("fast.Socket", {.basicsize = 32}));
    program.heap.put(socket + 16, queue);
    program.module("app", "/srv/app/app.py", {{"Message", type}, {"SOCKET", socket}});
    const Analysed analysed(program);
    REQUIRE(analysed.retained.memory(analysed.id(socket)) > analysed.retained.memory(analysed.id(queue)));
    const std::vector<TopHolder> holders = top_holders(analysed.graph, analysed.sizes, 1000, 5);
    CHECK(holder_of(holders, queue) == nullptr);
    const TopHolder* holder = holder_of(holders, socket);
    REQUIRE(holder != nullptr);
    CHECK(text(holder->expression) == "app.SOCKET");
    CHECK(holder->retained == analysed.retained.memory(analysed.id(socket)));
    CHECK(holder->object->native == 0);
    CHECK(holder->content_type == "list");
    CHECK(holder->content_count == 1);
}

TEST_CASE("overview: what two registries hold together is theirs together", "[program][overview]") {
    ProgramHeap program;
    const Address type = program.python_class("Job", {"value"});
    const std::vector<Address> jobs = instances(program, type, 40);
    const Address by_name = program.list(jobs), by_age = program.list(jobs);
    program.module("app", "/srv/app/app.py", {{"Job", type}, {"BY_NAME", by_name}, {"BY_AGE", by_age}});
    const Analysed analysed(program);
    const std::vector<TopHolder> holders = top_holders(analysed.graph, analysed.sizes, 1000, 5);
    const auto joint = std::find_if(holders.begin(), holders.end(), [](const TopHolder& h) {
        return h.joint && h.content_type == "app.Job";
    });
    REQUIRE(joint != holders.end());
    CHECK(joint->content_count == 40);
    REQUIRE(joint->joint->holders.size() == 2);
    std::vector<std::string> expressions;
    for (const PathExpression& expression : joint->joint->expressions)
        expressions.push_back(text(expression));
    std::sort(expressions.begin(), expressions.end());
    CHECK(expressions == std::vector<std::string>{"app.BY_AGE", "app.BY_NAME"});
    std::uint64_t memory = 0;
    for (const Address job : jobs) memory += analysed.retained.memory(analysed.id(job));
    CHECK(joint->retained == memory);
}

TEST_CASE("overview: much garbage is said, and why it is still there", "[program][overview]") {
    ProgramHeap program;
    const Address type = program.python_class("Node", {"value", "next"});
    for (int ring = 0; ring < 200; ++ring) {
        const Address one = program.instance(type, {program.heap.real(ring)}),
                      two = program.instance(type, {Address(), one});
        program.set_slot(one, 1, two);
    }
    program.module("app", "/srv/app/app.py", {{"Node", type}});
    const Analysed analysed(program);
    Work work(analysed.heap);
    const OverviewResult result = overview(work, 3);
    const CyclesResult garbage = cycles(work, {});
    CHECK(garbage.waiting.cycles == 200);
    CHECK(result.garbage_memory == garbage.waiting.bytes);
    REQUIRE(garbage.reasons.size() == 1);
    REQUIRE(result.garbage_memory >= result.in_use_bytes / 100);  // else it is not worth a word
    CHECK(result.garbage_remark == garbage.reasons[0]);
    CHECK(result.garbage_list_memory == 0);
}

TEST_CASE("memory: a mapping that two mmap objects have is counted once", "[program][memory]") {
    ProgramHeap program;
    const Address type = program.heap.c_type("mmap.mmap", {.basicsize = 72}),
                  data = program.heap.map(Address(0x7c0000000000), 8192);
    std::vector<Address> objects;
    for (const Address start : {data, data, Address()}) {  // the last one is closed
        objects.push_back(program.object(type));
        program.heap.put(objects.back() + 16, start);
        program.heap.put(objects.back() + 24, std::uint64_t{8192});
    }
    program.module("app", "/srv/app/app.py", {{"MAPS", program.list(objects)}});
    const Analysed analysed(program);
    const MemoryResult result = memory(analysed.heap, false);
    CHECK(result.mapped_by_objects.objects == 2);
    CHECK(result.mapped_by_objects.bytes == 8192);
}
