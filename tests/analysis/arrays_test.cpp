// Arrays by owner: who is kept by views alone, what is seen, who holds what.

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
    const ArrayOwner* owner = arrays.owner_of(heap.find(Address(address)));
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
    const HandmadeReader snapshot = heap.build();
    const HeapGraph graph(snapshot);
    const ArrayTable arrays = array_table(graph);
    const ArrayOwner& owner = owner_at(snapshot, arrays, pinned);
    CHECK(owner.object == snapshot.find(Address(pinned)));
    CHECK(owner.kept_by_views);
    CHECK(owner.pinned());
    CHECK(owner.nbytes() == 800);
    CHECK(owner.visible_bytes == 80);
    CHECK(owner.views == 1);
    CHECK(owner.saved);
    CHECK_FALSE(owner_at(snapshot, arrays, used).kept_by_views);
    CHECK(owner_at(snapshot, arrays, used).visible_bytes == 400);
    CHECK(&owner_at(snapshot, arrays, slice) == &owner);
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
    const HandmadeReader snapshot = heap.build();
    const HeapGraph graph(snapshot);
    const ArrayTable arrays = array_table(graph);
    CHECK(owner_at(snapshot, arrays, between).object == snapshot.find(Address(owner)));
    CHECK(owner_at(snapshot, arrays, owner).visible_bytes == 120);
    CHECK(owner_at(snapshot, arrays, owner).views == 3);
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
    const HandmadeReader snapshot = heap.build();
    const HeapGraph graph(snapshot);
    const ArrayTable arrays = array_table(graph);
    CHECK(owner_at(snapshot, arrays, whole).kept_by_views);
    CHECK_FALSE(owner_at(snapshot, arrays, whole).pinned());
    CHECK_FALSE(owner_at(snapshot, arrays, native).kept_by_views);
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
    const HandmadeReader snapshot = heap.build();
    const HeapGraph graph(snapshot);
    const ArrayTable arrays = array_table(graph);
    const ArrayOwner& owner = owner_at(snapshot, arrays, slice);
    CHECK(owner.object == no_object);
    CHECK(owner.lent_to == snapshot.find(Address(lent)));
    CHECK(owner.nbytes() == 800);
    CHECK_FALSE(owner.size_known);
    CHECK_FALSE(owner.kept_by_views);
    CHECK(arrays.sums.native_owners == 1);
    CHECK(arrays.sums.native_bytes == 800);
    CHECK_FALSE(owner_at(snapshot, arrays, away).saved);  // its data is nowhere in the core
    CHECK(arrays.sums.not_saved_bytes == 800);
}

TEST_CASE("arrays: bases in a circle end", "[numpy][analysis]") {
    ArrayHeap heap;
    const std::uint64_t first = headers_start, second = headers_start + 0x400;
    REQUIRE(heap.array(data_start, {10}, {8}, second) == first);
    REQUIRE(heap.array(data_start, {10}, {8}, first) == second);
    heap.list({first});
    const HandmadeReader snapshot = heap.build();
    const HeapGraph graph(snapshot);
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
    const HandmadeReader snapshot = heap.build();
    const HeapGraph graph(snapshot);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    const ArrayTable arrays = array_table(graph);
    const auto addresses = [&](const std::vector<std::uint32_t>& owners) {
        std::vector<Address> found;
        for (const std::uint32_t i : owners) found.push_back(snapshot.address_of(arrays.owners[i].object));
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
    CHECK(snapshot.address_of(HeapGraph::object_of(*holders.rows[0].dominator)) == Address(0x80000));
}

TEST_CASE("arrays: without NumPy there is nothing", "[numpy][analysis]") {
    HandmadeHeap heap;
    heap.objects = {{Address(0x10100), "app.Node", facts(48, 64), {}, {}}};
    const HandmadeReader snapshot = heap.build();
    const HeapGraph graph(snapshot);
    const ArrayTable arrays = array_table(graph);
    CHECK(arrays.arrays.empty());
    CHECK(arrays.sums.owners == 0);
    CHECK(array_holders(graph, arrays, {}, false, 0, nullptr).rows.empty());
}
