// What rows of tables retain, for types, single objects and threads.

#include "analysis/holders.h"
#include "analysis/objects.h"
#include "analysis/retained_types.h"
#include "analysis/threads.h"
#include "tests/analysis/random_heap.h"
#include "tests/catch.h"

#include <algorithm>
#include <map>

using namespace heapsift;
using namespace heapsift::test;

namespace {

void hold_by_c_code(HandmadeHeap& heap, std::uint64_t address) {
    Reference native = reference(address, "<block of C code>", ReferenceKind::native);
    native.word = Address(0x80000 + 8 * heap.natives.size());
    heap.natives.push_back(native);
}

/// C code holds two lists; both hold the jobs, each of which has its own name; only the second list holds a
/// dict.
HandmadeHeap two_lists() {
    HandmadeHeap heap;
    heap.objects = {
        {Address(0x100), "list", facts(56, 64, 0, 1), {}, {reference(0x300, "[0]"), reference(0x400, "[1]")}},
        {Address(0x200),
         "list",
         facts(56, 64, 0, 1),
         {},
         {reference(0x300, "[0]"), reference(0x400, "[1]"), reference(0x500, "[2]")}},
        {Address(0x300), "app.Job", facts(48, 1000, 0, 2), {}, {reference(0x600, ".name")}},
        {Address(0x400), "app.Job", facts(48, 1000, 0, 2), {}, {reference(0x700, ".name")}},
        {Address(0x500), "dict", facts(64, 80, 0, 1), {}, {}},
        {Address(0x600), "str", facts(50, 200, 0, 1), {}, {}},
        {Address(0x700), "str", facts(50, 200, 0, 1), {}, {}},
    };
    hold_by_c_code(heap, 0x100);
    hold_by_c_code(heap, 0x200);
    return heap;
}

std::map<std::string, std::optional<std::uint64_t>> retained_by_name(const TypesResult& result) {
    std::map<std::string, std::optional<std::uint64_t>> found;
    for (const TypeRow& row : result.types) found[row.name] = row.retained;
    return found;
}

TypesResult types_of(const HeapReader& heap, SortKey sort, std::size_t limit) {
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    TypesResult result = types(heap, sort, 0);
    add_retained(result, graph, sizes, sort, limit);
    return result;
}

}  // namespace

TEST_CASE("types: a row retains what its objects hold jointly too", "[analysis][types][retained]") {
    const HandmadeReader heap = two_lists().build();
    const TypesResult result = types_of(heap, SortKey::retained, 0);
    CHECK(retained_by_name(result) == std::map<std::string, std::optional<std::uint64_t>>{
                                          {"list", 2608}, {"app.Job", 2400}, {"dict", 80}, {"str", 400}});
    CHECK(result.types.front().name == "list");
    CHECK(result.types[1].name == "app.Job");
}

TEST_CASE("types: sorted by something else, the rows that are shown are filled",
          "[analysis][types][retained]") {
    const HandmadeReader heap = two_lists().build();
    const TypesResult result = types_of(heap, SortKey::memory, 1);
    REQUIRE(result.types.size() == 1);
    CHECK(result.types[0].name == "app.Job");
    CHECK(result.types[0].retained == 2400);
    CHECK(result.total_types == 4);
    CHECK(result.shown_memory == 2000);
}

TEST_CASE("types: what each retains is what the root no longer reaches, on random heaps",
          "[analysis][types][retained]") {
    std::mt19937 random(20261122);
    for (int round = 0; round < 300; ++round) {
        HandmadeHeap made = random_heap(random, 40);
        for (HandmadeObject& object : made.objects) object.type = "app.Type" + std::to_string(random() % 5);
        const HandmadeReader heap = made.build();
        const HeapGraph graph(heap);
        for (const TypeRow& row : types_of(heap, SortKey::retained, 0).types) {
            std::vector<ObjectId> members;
            for (ObjectId object{0}; object < heap.snapshot().object_count(); ++object)
                if (type_name(heap.snapshot().types, heap.snapshot().type_of(object)) == row.name)
                    members.push_back(object);
            std::uint64_t expected = 0;
            for (const ObjectId object : retained_by(graph, members).objects)
                expected += heap.facts(object).memory;
            REQUIRE(row.retained == expected);
        }
    }
}

TEST_CASE("types: a limit gives the first rows of the whole table", "[analysis][types][retained]") {
    // More than are looked at: of these the estimates are exact. Of some, all that are not shown retain less together
    // than any that is.
    constexpr std::size_t types = 300;
    const std::size_t large = GENERATE(std::size_t{300}, std::size_t{40}, std::size_t{19});
    HandmadeHeap made;
    for (std::size_t i = 0; i < types; ++i) {
        const std::uint64_t list = 0x10000 + 0x100 * i;
        const std::string type = "app.Type" + std::to_string(i);
        made.objects.push_back(
            {Address(list), type, facts(48, 64, 0, 1), {}, {reference(list + 0x40, ".data")}});
        made.objects.push_back({Address(list + 0x20), type, facts(48, 64, 0, 1), {}, {}});
        made.objects.push_back({Address(list + 0x40),
                                "bytes",
                                facts(48, i < large ? 100000 + (i * 7919) % 1009 : 8 * (i % 3), 0, 1),
                                {},
                                {}});
    }
    const HandmadeReader heap = made.build();
    const TypesResult all = types_of(heap, SortKey::retained, 0),
                      some = types_of(heap, SortKey::retained, 20);
    REQUIRE(some.types.size() == 20);
    for (std::size_t i = 0; i < some.types.size(); ++i) {
        CHECK(some.types[i].name == all.types[i].name);
        CHECK(some.types[i].retained == all.types[i].retained);
    }
    CHECK(some.total_types == types + 1);
}

TEST_CASE("objects: sorted and chosen by what each retains", "[analysis][objects][retained]") {
    const HandmadeReader heap = two_lists().build();
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    ObjectsQuery query;
    query.sort = SortKey::retained;
    query.limit = 3;
    const ObjectsResult largest = objects(heap, query, &retained);
    REQUIRE(largest.objects.size() == 3);
    CHECK(heap.snapshot().address_of(largest.objects[0]) == Address(0x300));
    CHECK(heap.snapshot().address_of(largest.objects[1]) == Address(0x400));
    CHECK(heap.snapshot().address_of(largest.objects[2]) == Address(0x600));
    CHECK(object_row(retained, object_states(graph), largest.objects[0]).retained == 1200);
    CHECK(object_row(retained, object_states(graph), largest.objects[0]).state == ObjectState::reachable);
    query.where = {{ObjectCondition::Field::retained, ObjectCondition::Operator::greater_equal, 1200}};
    CHECK(objects(heap, query, &retained).total_count == 2);
    CHECK(objects(heap, query, nullptr).total_count == 0);
}

TEST_CASE("holders: all types, by type, owner and attribute", "[analysis][holders]") {
    const HandmadeReader heap = two_lists().build();
    const HeapGraph graph(heap);
    const HoldersResult result = holders(graph, {}, {}, 0);
    CHECK(result.total_count == 7);
    std::uint64_t counted = 0;
    for (const HolderRow& row : result.rows) counted += row.count;
    CHECK(counted == 7);
    const auto names = std::find_if(result.rows.begin(), result.rows.end(),
                                    [](const HolderRow& row) { return row.type_name == "str"; });
    REQUIRE(names != result.rows.end());
    CHECK(names->holder == "app.Job");
    CHECK(names->attribute == "name");
    CHECK(names->count == 2);
    CHECK(names->retained == 400);
    const HoldersResult only = holders(graph, heap.snapshot().types.named("app.Job"), {}, 0);
    CHECK(only.total_count == 2);
    CHECK(only.total_memory == 2000);
}

TEST_CASE("threads: without what is retained nothing is said of it", "[analysis][threads]") {
    const HandmadeReader heap = two_lists().build();
    const HeapGraph graph(heap);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    CHECK(threads(heap, 0).threads.empty());
    CHECK(threads(heap, 0, &retained).threads.empty());
}
