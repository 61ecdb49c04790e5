// The type table.

#include "analysis/types.h"

#include "analysis/type_names.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

HandmadeHeap three_types() {
    HandmadeHeap heap;
    heap.objects = {{Address(0x9000), "dict", facts(64, 80), {}, {}},
                    {Address(0x8000), "app.Node", facts(48, 64), {}, {}},
                    {Address(0x8100), "app.Node", facts(50, 64), {}, {}},
                    {Address(0x8200), "app.Node", facts(50, 64), {}, {}},
                    {Address(0x8300), "numpy.ndarray", facts(1112, 1200, 1000), {}, {}}};
    return heap;
}

std::vector<std::string> names(const TypesResult& result) {
    std::vector<std::string> all;
    for (const TypeRow& row : result.types) all.push_back(row.name);
    return all;
}

TypeTable table_of(const std::vector<std::string>& names) {
    std::vector<TypeInfo> types;
    for (const std::string& name : names) {
        types.emplace_back();
        types.back().address = Address(0x1000 + 0x100 * types.size());
        types.back().name = name;
    }
    return TypeTable(std::move(types));
}

}  // namespace

TEST_CASE("types: a row adds up its objects, totals add up all rows", "[analysis][types]") {
    const HandmadeReader heap = three_types().build();
    const TypesResult result = types(heap, SortKey::memory, 0);
    REQUIRE(names(result) == std::vector<std::string>{"numpy.ndarray", "app.Node", "dict"});
    CHECK(result.types[1].count == 3);
    CHECK(result.types[1].size == 148);
    CHECK(result.types[1].memory == 192);
    CHECK(result.types[0].array_data == 1000);
    CHECK(result.total_types == 3);
    CHECK(result.total_count == 5);
    CHECK(result.total_memory == 1472);
    CHECK(result.total_array_data == 1000);
    CHECK(result.shown_memory == 1472);
}

TEST_CASE("types: the largest is by memory, then size, then the lowest address", "[analysis][types]") {
    const HandmadeReader heap = three_types().build();
    const TypesResult result = types(heap, SortKey::count, 1);
    REQUIRE(names(result) == std::vector<std::string>{"app.Node"});
    CHECK(result.types[0].largest.address == Address(0x8100));
    CHECK(result.total_types == 3);
    CHECK(result.shown_memory == 192);
}

TEST_CASE("types: sorted by name, smallest first; by numbers, ties by name", "[analysis][types]") {
    const HandmadeReader heap = three_types().build();
    CHECK(names(types(heap, SortKey::name, 0)) ==
          std::vector<std::string>{"app.Node", "dict", "numpy.ndarray"});
    CHECK(names(types(heap, SortKey::array_data, 0)) ==
          std::vector<std::string>{"numpy.ndarray", "app.Node", "dict"});
}

TEST_CASE("types: classes of one name are rows of their own, by address", "[analysis][types]") {
    std::vector<TypeRow> rows(2);
    rows[0].name = rows[1].name = "app.Again";
    rows[0].address = Address(0x2000);
    rows[1].address = Address(0x1000);
    sort_types(rows, SortKey::memory);
    CHECK(rows[0].address == Address(0x1000));
}

TEST_CASE("types: sizes that sys.getsizeof would not have said are counted by type", "[analysis][types]") {
    HandmadeHeap heap = three_types();
    TypeInfo frame;
    frame.address = Address(0x500);
    frame.name = "pandas.DataFrame";
    frame.size_source = SizeSource::python;
    TypeInfo thing;
    thing.address = Address(0x600);
    thing.name = "c.Thing";
    thing.size_source = SizeSource::unknown;
    heap.types = {frame, thing};
    heap.objects.push_back({Address(0xa000), "pandas.DataFrame", facts(48, 64), {}, {}});
    heap.objects.push_back({Address(0xa100), "c.Thing", facts(48, 64), {}, {}});
    const TypesResult result = types(heap.build(), SortKey::memory, 0);
    CHECK(result.python_sizeof_types ==
          std::vector<std::pair<std::string, std::uint64_t>>{{"pandas.DataFrame", 1}});
    CHECK(result.uncertain_types == std::vector<std::pair<std::string, std::uint64_t>>{{"c.Thing", 1}});
    CHECK(result.uncertain_sizes == 2);
}

TEST_CASE("types: no objects, no rows", "[analysis][types]") {
    CHECK(types(HandmadeHeap{}.build(), SortKey::memory, 20).types.empty());
}

TEST_CASE("type names: the exact name wins, a bare name must be had by one only", "[analysis][types]") {
    const TypeTable types = table_of({"app.Node", "dict", "other.Leaf", "tree.Leaf", "x.Twice", "x.Twice"});
    CHECK(find_types(types, "app.Node").types == std::vector<TypeId>{TypeId(0)});
    CHECK(find_types(types, "Node").types == std::vector<TypeId>{TypeId(0)});
    CHECK(find_types(types, "dict").types == std::vector<TypeId>{TypeId(1)});
    CHECK(find_types(types, "Twice").types == std::vector<TypeId>{TypeId(4), TypeId(5)});
    const TypeSearch leaf = find_types(types, "Leaf");
    CHECK(leaf.types.empty());
    CHECK(leaf.ambiguous);
    CHECK(leaf.candidates == std::vector<std::string>{"other.Leaf", "tree.Leaf"});
}

TEST_CASE("type names: a star is any text, a question mark one character", "[analysis][types]") {
    const TypeTable types = table_of({"app.Node", "dict", "other.Leaf", "tree.Leaf", "x.Twice", "x.Twice"});
    CHECK(find_types(types, "*.Leaf").types == std::vector<TypeId>{TypeId(2), TypeId(3)});
    CHECK(find_types(types, "x.*").types == std::vector<TypeId>{TypeId(4), TypeId(5)});
    CHECK(find_types(types, "*e*.L??f*").types == std::vector<TypeId>{TypeId(2), TypeId(3)});
    CHECK(find_types(types, "*").types.size() == types.size());
    CHECK(find_types(types, "?ict").types == std::vector<TypeId>{TypeId(1)});
    CHECK(find_types(types, "*.Leaf?").types.empty());
    CHECK_FALSE(find_types(types, "*.Leaf?").ambiguous);
}

TEST_CASE("type names: an unknown name gets its neighbours", "[analysis][types]") {
    const TypeTable types = table_of({"app.Node", "dict", "numpy.ndarray"});
    CHECK(find_types(types, "ditc").candidates == std::vector<std::string>{"dict"});
    CHECK(find_types(types, "Nod").candidates == std::vector<std::string>{"app.Node"});
    CHECK(find_types(types, "zzzzzzzz").candidates.empty());
    CHECK(find_types(types, "").types.empty());
}
