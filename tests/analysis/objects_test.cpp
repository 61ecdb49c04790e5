// Single objects, sorted.

#include "analysis/objects.h"

#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

HandmadeHeap five_objects() {
    HandmadeHeap heap;
    heap.objects = {{Address(0x100), "b", facts(10, 30, 0, 1), {}, {}},
                    {Address(0x200), "a", facts(20, 30, 0, 2), {}, {}},
                    {Address(0x300), "b", facts(30, 10, 0, 3), {}, {}},
                    {Address(0x400), "a", facts(40, 50, 8, 4), {}, {}},
                    {Address(0x500), "b", facts(50, 30, 0, 5), {}, {}}};
    return heap;
}

std::vector<std::uint64_t> addresses(const HeapReader& heap, const ObjectsResult& result) {
    std::vector<std::uint64_t> all;
    for (const ObjectId object : result.objects) all.push_back(heap.snapshot().address_of(object).value);
    return all;
}

std::vector<std::uint64_t> listed(const HeapReader& heap, SortKey sort, std::size_t limit) {
    ObjectsQuery query;
    query.sort = sort;
    query.limit = limit;
    return addresses(heap, objects(heap, query, nullptr));
}

}  // namespace

TEST_CASE("objects: largest first, ties by type name, then address", "[analysis][objects]") {
    const HandmadeReader heap = five_objects().build();
    CHECK(listed(heap, SortKey::memory, 0) == std::vector<std::uint64_t>{0x400, 0x200, 0x100, 0x500, 0x300});
    CHECK(listed(heap, SortKey::size, 0) == std::vector<std::uint64_t>{0x500, 0x400, 0x300, 0x200, 0x100});
    CHECK(listed(heap, SortKey::name, 0) == std::vector<std::uint64_t>{0x200, 0x400, 0x100, 0x300, 0x500});
}

TEST_CASE("objects: a limit gives the first rows of the whole list", "[analysis][objects]") {
    const HandmadeReader heap = five_objects().build();
    for (const SortKey sort : {SortKey::memory, SortKey::size, SortKey::array_data, SortKey::name})
        for (std::size_t limit = 1; limit <= 6; ++limit) {
            auto all = listed(heap, sort, 0);
            all.resize(std::min(all.size(), limit));
            CHECK(listed(heap, sort, limit) == all);
        }
}

TEST_CASE("objects: totals are of all that match, what is shown of the rows", "[analysis][objects]") {
    const HandmadeReader heap = five_objects().build();
    ObjectsQuery query;
    query.types = heap.snapshot().types.named("b");
    query.limit = 2;
    const ObjectsResult result = objects(heap, query, nullptr);
    CHECK(addresses(heap, result) == std::vector<std::uint64_t>{0x100, 0x500});
    CHECK(result.total_count == 3);
    CHECK(result.total_size == 90);
    CHECK(result.total_memory == 70);
    CHECK(result.shown_memory == 60);
}

TEST_CASE("objects: every condition must hold", "[analysis][objects]") {
    using Field = ObjectCondition::Field;
    using Operator = ObjectCondition::Operator;
    const HandmadeReader heap = five_objects().build();
    ObjectsQuery query;
    query.where = {{Field::size, Operator::greater, 10}, {Field::refcount, Operator::less_equal, 3}};
    CHECK(addresses(heap, objects(heap, query, nullptr)) == std::vector<std::uint64_t>{0x200, 0x300});
    query.where = {{Field::array_data, Operator::not_equal, 0}};
    CHECK(addresses(heap, objects(heap, query, nullptr)) == std::vector<std::uint64_t>{0x400});
    query.where = {{Field::memory, Operator::equal, 10}};
    CHECK(addresses(heap, objects(heap, query, nullptr)) == std::vector<std::uint64_t>{0x300});
    query.where = {{Field::block_size, Operator::less, 0}};
    CHECK(objects(heap, query, nullptr).objects.empty());
}

TEST_CASE("objects: with subclasses, what derives is of the type too", "[analysis][objects]") {
    HandmadeHeap made = five_objects();
    TypeInfo base, derived;
    base.address = Address(0x10);
    base.name = "a";
    derived.address = Address(0x20);
    derived.name = "b";
    derived.base = TypeId(0);
    made.types = {base, derived};
    const HandmadeReader heap = made.build();
    ObjectsQuery query;
    query.types = {TypeId(0)};
    CHECK(objects(heap, query, nullptr).total_count == 2);
    query.include_subclasses = true;
    CHECK(objects(heap, query, nullptr).total_count == 5);
}
