// Arrays by owner: which are kept only by views, what is visible, who holds what.

#include "analysis/arrays.h"
#include "analysis/array_holders.h"
#include "analysis/array_lists.h"
#include "tests/analysis/handmade_arrays.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

using handmade_arrays::data_start;
using handmade_arrays::headers_start;

const ArrayOwner& owner_at(const HeapReader& heap, const ArrayTable& arrays, std::uint64_t address) {
    const ArrayOwner* owner = arrays.owner_of(heap.snapshot().find(Address(address)));
    REQUIRE(owner);
    return *owner;
}

}  // namespace

TEST_CASE("arrays: an owner that a slice alone keeps is pinned; one that something else holds is not",
          "[numpy][analysis]") {
    ArrayHeap heap;
    const std::uint64_t pinned = heap.array(data_start, {100}, {8});
    const std::uint64_t slice = heap.array(data_start + 80, {10}, {8}, pinned);
    const std::uint64_t used = heap.array(data_start + 800, {50}, {8}, 0, 2);
    const std::uint64_t view = heap.array(data_start + 800, {5}, {8}, used);
    heap.list({slice, used, view});
    const HandmadeReader reader = heap.build();
    const HeapGraph graph(reader);
    const ArrayTable arrays = array_table(graph);
    const ArrayOwner& owner = owner_at(reader, arrays, pinned);
    CHECK(owner.object == reader.snapshot().find(Address(pinned)));
    CHECK(owner.kept_by_views);
    CHECK(owner.pinned());
    CHECK(owner.nbytes() == 800);
    CHECK(owner.visible_bytes == 80);
    CHECK(owner.views == 1);
    CHECK(owner.saved);
    CHECK_FALSE(owner_at(reader, arrays, used).kept_by_views);
    CHECK(owner_at(reader, arrays, used).visible_bytes == 400);
    CHECK(&owner_at(reader, arrays, slice) == &owner);
    const ArraySums& sums = arrays.sums;
    CHECK(sums.arrays == 4);
    CHECK(sums.views == 2);
    CHECK(sums.owners == 2);
    CHECK(sums.owned_bytes == 1200);
    CHECK(sums.pinned == 1);
    CHECK(sums.pinned_bytes == 800);
    CHECK(sums.pinned_visible == 80);
    CHECK(sums.pinned_views == 1);
}

TEST_CASE("arrays: a view in between shows nothing, and all that overlaps counts once", "[numpy][analysis]") {
    ArrayHeap heap;
    const std::uint64_t owner = heap.array(data_start, {100}, {8}, 0, 1);
    const std::uint64_t between = heap.array(data_start, {100}, {8}, owner);  // a subclass keeps its base
    const std::uint64_t one = heap.array(data_start, {10}, {8}, between);
    const std::uint64_t two = heap.array(data_start + 40, {10}, {8}, between);
    heap.list({one, two});
    const HandmadeReader reader = heap.build();
    const HeapGraph graph(reader);
    const ArrayTable arrays = array_table(graph);
    CHECK(owner_at(reader, arrays, between).object == reader.snapshot().find(Address(owner)));
    CHECK(owner_at(reader, arrays, owner).visible_bytes == 120);
    CHECK(owner_at(reader, arrays, owner).views == 3);
    CHECK(arrays.sums.pinned_views == 2);
}

TEST_CASE("arrays: all of it shown is kept, not pinned; held by C code is neither", "[numpy][analysis]") {
    ArrayHeap heap;
    const std::uint64_t whole = heap.array(data_start, {10, 10}, {80, 8});
    const std::uint64_t transposed = heap.array(data_start, {10, 10}, {8, 80}, whole);
    // one reference more than was found
    const std::uint64_t native = heap.array(data_start + 800, {100}, {8}, 0, 2);
    const std::uint64_t slice = heap.array(data_start + 800, {1}, {8}, native);
    heap.list({transposed, slice});
    const HandmadeReader reader = heap.build();
    const HeapGraph graph(reader);
    const ArrayTable arrays = array_table(graph);
    CHECK(owner_at(reader, arrays, whole).kept_by_views);
    CHECK_FALSE(owner_at(reader, arrays, whole).pinned());
    CHECK_FALSE(owner_at(reader, arrays, native).kept_by_views);
    CHECK(arrays.sums.pinned == 0);
    CHECK(list_owners(arrays, OwnerChoice::pinned, 0).empty());
}

TEST_CASE("arrays: memory that C code lent has an owner of its own, as large as what is shown",
          "[numpy][analysis]") {
    ArrayHeap heap;
    const std::uint64_t lent = heap.lent_array(data_start, {100}, {8});
    const std::uint64_t slice = heap.array(data_start + 8, {3}, {8}, lent);
    const std::uint64_t away = heap.array(0x7000000000, {100}, {8});
    heap.list({lent, slice, away});
    const HandmadeReader reader = heap.build();
    const HeapGraph graph(reader);
    const ArrayTable arrays = array_table(graph);
    const ArrayOwner& owner = owner_at(reader, arrays, slice);
    CHECK(owner.object == no_object);
    CHECK(owner.lent_to == reader.snapshot().find(Address(lent)));
    CHECK(owner.nbytes() == 800);
    CHECK_FALSE(owner.size_known);
    CHECK_FALSE(owner.kept_by_views);
    CHECK(arrays.sums.native_owners == 1);
    CHECK(arrays.sums.native_bytes == 800);
    CHECK_FALSE(owner_at(reader, arrays, away).saved);  // its data is nowhere in the core
    CHECK(arrays.sums.not_saved_bytes == 800);
}

TEST_CASE("arrays: bases in a circle end", "[numpy][analysis]") {
    ArrayHeap heap;
    const std::uint64_t first = headers_start, second = headers_start + 0x400;
    REQUIRE(heap.array(data_start, {10}, {8}, second) == first);
    REQUIRE(heap.array(data_start, {10}, {8}, first) == second);
    heap.list({first});
    const HandmadeReader reader = heap.build();
    const HeapGraph graph(reader);
    const ArrayTable arrays = array_table(graph);
    CHECK(arrays.sums.arrays == 2);
    CHECK(arrays.sums.pinned == 0);
}

TEST_CASE("arrays: lists of owners and arrays, largest first", "[numpy][analysis]") {
    ArrayHeap heap;
    const std::uint64_t small = heap.array(data_start, {10}, {8});
    const std::uint64_t large = heap.array(data_start + 800, {90}, {8});
    const std::uint64_t of_small = heap.array(data_start, {1}, {8}, small);
    const std::uint64_t of_large = heap.array(data_start + 800, {89}, {8}, large);
    heap.list({of_small, of_large});
    const HandmadeReader reader = heap.build();
    const HeapGraph graph(reader);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    const ArrayTable arrays = array_table(graph);
    const auto addresses = [&](const std::vector<std::uint32_t>& owners) {
        std::vector<Address> found;
        for (const std::uint32_t i : owners)
            found.push_back(reader.snapshot().address_of(arrays.owners[i].object));
        return found;
    };
    CHECK(addresses(list_owners(arrays, OwnerChoice::all, 0)) == std::vector{Address(large), Address(small)});
    CHECK(addresses(list_owners(arrays, OwnerChoice::pinned, 0)) ==
          std::vector{Address(small), Address(large)});  // 72, 8 unseen
    CHECK(list_owners(arrays, OwnerChoice::all, 1).size() == 1);
    CHECK(list_arrays(arrays, false, 0).size() == 4);
    CHECK(list_arrays(arrays, true, 0).size() == 2);
    const ArrayHolders holders = array_holders(graph, arrays, {}, false, 0, &retained);
    REQUIRE(holders.rows.size() == 1);
    CHECK(holders.rows[0].arrays == 2);
    CHECK(holders.rows[0].nbytes == 720);
    CHECK(holders.rows[0].kept_bytes == 800);
    CHECK(holders.rows[0].pinned_owners == 2);
    CHECK(holders.rows[0].unseen_bytes() == 80);
    REQUIRE(holders.rows[0].dominator);
    CHECK(reader.snapshot().address_of(HeapGraph::object_of(*holders.rows[0].dominator)) == Address(0x80000));
}

TEST_CASE("arrays: without NumPy there is nothing", "[numpy][analysis]") {
    HandmadeHeap heap;
    heap.objects = {{Address(0x10100), "app.Node", facts(48, 64), {}, {}}};
    const HandmadeReader reader = heap.build();
    const HeapGraph graph(reader);
    const ArrayTable arrays = array_table(graph);
    CHECK(arrays.arrays.empty());
    CHECK(arrays.sums.owners == 0);
    CHECK(array_holders(graph, arrays, {}, false, 0, nullptr).rows.empty());
}

TEST_CASE("arrays: a summary has owners by sort, and says below what several rows of holders hang",
          "[numpy][analysis]") {
    ArrayHeap made;
    const std::uint64_t left = made.array(data_start, {100}, {8}),
                        right = made.array(data_start + 800, {50}, {8});
    const std::uint64_t lent = made.lent_array(data_start + 1600, {10}, {8});
    const std::uint64_t pair = made.object("app.Pair", {{".left", left}, {".right", right}});
    made.list({lent});
    const HandmadeReader heap = made.build();
    Work work(heap);
    const ArraysResult result = arrays(work, {.rows = 0});
    REQUIRE(result.sorts.size() == 2);
    CHECK(result.sorts[0].name == "arrays that own their elements");
    CHECK(result.sorts[0].owners == 2);
    CHECK(result.sorts[0].bytes == 1200);
    CHECK(result.sorts[1].name == "native memory, lent by C code");
    CHECK(result.sorts[1].bytes == 80);
    REQUIRE(result.holders.rows.size() == 3);
    CHECK(result.holders.rows[0].holder == "app.Pair");
    CHECK(result.holders.rows[0].attribute == "left");
    CHECK(result.holders.rows[0].dominator_address == Address(pair));  // of one array: its own dominator
    REQUIRE(result.common);
    CHECK(result.common->rows == 2);
    REQUIRE(result.common->object);
    CHECK(result.common->object->address == Address(pair));
    REQUIRE(result.arrays.size() == 3);
    const ShownArray first = shown_array(heap, result, 0);
    CHECK(first.object.address == Address(left));
    CHECK(first.nbytes == 800);
    CHECK(first.array.shape == std::vector<std::int64_t>{100});
    CHECK(first.owner.is_array);
    CHECK(first.owner.address == Address(left));
    const ArrayOwnerRow native = array_owner_row(heap, result, 2);
    CHECK_FALSE(native.object);
    CHECK(native.address == Address(lent));
    CHECK_FALSE(native.example);  // no places were asked for
    (void)pair;
}

TEST_CASE("arrays: the pinned are listed with how the slice is reached", "[numpy][analysis]") {
    ArrayHeap made;
    const std::uint64_t owner = made.array(data_start, {100}, {8});
    const std::uint64_t slice = made.array(data_start, {10}, {8}, owner);
    made.array(data_start + 800, {90}, {8});
    made.list({slice});
    const HandmadeReader heap = made.build();
    Work work(heap);
    const ArraysResult result =
        arrays(work, {.table = ArraysQuery::Table::owners, .only_pinned = true, .rows = 0});
    REQUIRE(result.owners.size() == 1);
    const ArrayOwnerRow row = array_owner_row(heap, result, 0);
    CHECK(row.address == Address(owner));
    CHECK(row.example == Address(slice));
    CHECK(row.owner.unseen_bytes() == 720);
    REQUIRE(result.holders.rows.size() == 1);
    CHECK(result.holders.rows[0].pinned_owners == 1);
    CHECK_FALSE(result.holders.rows[0].dominator);
}

TEST_CASE("arrays: what is one value throughout would do with one element", "[numpy][analysis]") {
    ArrayHeap made;
    const std::uint64_t constant = made.array(data_start, {1000}, {8});
    made.list({constant, made.array(data_start, {3}, {8}, constant)});
    const HandmadeReader heap = made.build();
    Work work(heap);
    const ArraysResult result = arrays(work, {.table = ArraysQuery::Table::waste});
    REQUIRE(result.waste_rows.size() == 1);  // a view wastes nothing of its own
    CHECK(result.waste_rows[0].object.address == Address(constant));
    CHECK(result.waste_rows[0].waste.kind == WasteKind::constant);
    CHECK(result.waste_rows[0].waste.needed == 8);
    CHECK(result.waste.total_nbytes == 8000);
    CHECK(result.waste.looked_at == 1);
}

TEST_CASE("arrays: a view of another object's buffer keeps all of it: bytes, a bytearray, an mmap, an array",
          "[numpy][analysis]") {
    ArrayHeap made;
    const std::uint64_t bytes = made.exporter("bytes", 0, 400),
                        bytearray = made.exporter("bytearray", data_start, 4000),
                        mapping = made.exporter("mmap.mmap", data_start + 0x2000, 0x1000),
                        words = made.exporter("array.array", data_start + 0x4000, 100, 120);
    const std::uint64_t of_bytes = made.array(made.bytes_of(bytes) + 8, {10}, {8}, bytes),
                        of_bytearray = made.array(data_start, {10}, {8}, bytearray),
                        of_mapping = made.array(data_start + 0x2000, {10}, {8}, mapping),
                        of_words = made.array(data_start + 0x4000, {10}, {8}, words);
    made.list({of_bytes, of_bytearray, of_mapping, of_words});
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    const ArrayTable arrays = array_table(graph);
    const std::pair<std::uint64_t, std::uint64_t> expected[] = {
        {bytes, 400},
        {bytearray, 4000},
        {mapping, 0x1000},
        {words, 800}};  // what it has room for is not shown
    for (const auto& [object, nbytes] : expected) {
        const ArrayOwner& owner = owner_at(heap, arrays, object);
        CHECK(owner.object == heap.snapshot().find(Address(object)));
        CHECK(owner.size_known);
        CHECK(owner.nbytes() == nbytes);
        CHECK(owner.visible_bytes == 80);
        CHECK(owner.pinned());
        CHECK(owner.views == 1);
    }
    CHECK(arrays.sums.array_owners == 0);
    CHECK(arrays.sums.pinned_bytes == 400 + 4000 + 0x1000 + 800);
    CHECK(arrays.sums.view_bytes == 4 * 80);
}

TEST_CASE("arrays: a view that does not lie in its owner's buffer leaves the size open",
          "[numpy][analysis]") {
    ArrayHeap made;
    const std::uint64_t bytearray = made.exporter("bytearray", data_start, 40),
                        closed = made.exporter("mmap.mmap", data_start, -1);
    const std::uint64_t beside = made.array(data_start + 0x2000, {10}, {8}, bytearray),
                        of_closed = made.array(data_start + 0x3000, {20}, {8}, closed);
    made.list({beside, of_closed});
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    const ArrayTable arrays = array_table(graph);
    CHECK_FALSE(owner_at(heap, arrays, bytearray).size_known);
    CHECK(owner_at(heap, arrays, bytearray).nbytes() == 80);  // what is shown
    CHECK_FALSE(owner_at(heap, arrays, closed).size_known);
    CHECK(owner_at(heap, arrays, closed).nbytes() == 160);
}

TEST_CASE("arrays: a record keeps the array that it is an element of, and is no array", "[numpy][analysis]") {
    ArrayHeap made;
    const std::uint64_t table = made.array(data_start, {100}, {8});
    const std::uint64_t record = made.record(data_start + 80, table),
                        own = made.record(data_start + 0x1000, 0);
    made.list({record, own});
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    const ArrayTable arrays = array_table(graph);
    CHECK(arrays.sums.arrays == 1);
    CHECK(arrays.sums.scalars == 1);
    const ArrayOwner& owner = owner_at(heap, arrays, record);
    CHECK(owner.object == heap.snapshot().find(Address(table)));
    CHECK(owner.pinned());
    CHECK(owner.visible_bytes == 8);
    CHECK(arrays.owner_of(heap.snapshot().find(Address(own))) == nullptr);  // its bytes are its own
    CHECK(arrays.sums.view_bytes == 0);
}

TEST_CASE("arrays: what no root reaches is garbage, with all that shows it", "[numpy][analysis]") {
    ArrayHeap made;
    const std::uint64_t lost = made.array(data_start, {100}, {8}),
                        of_lost = made.array(data_start, {10}, {8}, lost, 0);
    const std::uint64_t used = made.array(data_start + 800, {100}, {8});
    made.list({used});
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    const ArrayTable arrays = array_table(graph);
    CHECK(owner_at(heap, arrays, of_lost).garbage);
    CHECK_FALSE(owner_at(heap, arrays, used).garbage);
    CHECK(arrays.sums.garbage == 1);
    CHECK(arrays.sums.garbage_bytes == 800);
}

TEST_CASE("arrays: an array whose dimensions make no sense is counted as not read", "[numpy][analysis]") {
    ArrayHeap made;
    const std::uint64_t absurd = made.array(data_start, {-1}, {8}),
                        huge = made.array(data_start, {1LL << 62, 64}, {8, 8}),
                        good = made.array(data_start, {10}, {8});
    made.list({absurd, huge, good});
    const HandmadeReader heap = made.build();
    const HeapGraph graph(heap);
    const ArrayTable arrays = array_table(graph);
    CHECK(arrays.sums.unread == 2);
    CHECK(arrays.sums.arrays == 1);
    CHECK(arrays.sums.owned_bytes == 80);
}
