// Unused room in containers, for the layouts of all versions.

#include "analysis/spare_room.h"
#include "tests/catch.h"
#include "tests/cpython/python_heap_builder.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

Entries entries_of(PythonHeapBuilder& heap, std::size_t live, std::size_t deleted) {
    Entries entries;
    for (std::size_t i = 0; i < live; ++i)
        entries.emplace_back(heap.str("key " + std::to_string(i)), heap.none());
    for (std::size_t i = 0; i < deleted; ++i) entries.emplace_back();
    return entries;
}

}  // namespace

TEST_CASE("block bytes: pymalloc's steps, then malloc's chunks", "[analysis][waste]") {
    CHECK(block_bytes(0) == 0);
    CHECK(block_bytes(1) == 16);
    CHECK(block_bytes(512) == 512);
    CHECK(block_bytes(513) == 520);
    CHECK(block_bytes(1000) == 1000);
}

TEST_CASE("spare room: a list with room for twice its items, and not one that is nearly full",
          "[analysis][waste]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address item = heap.integer(7);
    const auto room = spare_room(heap.reader(heap.list({item}, 40)));
    REQUIRE(room);
    CHECK(room->kind == SpareKind::list);
    CHECK(room->now == 320);
    CHECK(room->needed == 16);
    CHECK(room->saves() == 304);
    CHECK_FALSE(spare_room(heap.reader(heap.list({item, item, item}, 4))));
    CHECK_FALSE(spare_room(heap.reader(heap.list({}, 0))));
    CHECK_FALSE(spare_room(heap.reader(item)));
}

TEST_CASE("spare room: a list whose lengths cannot be true has none", "[analysis][waste]") {
    PythonHeapBuilder heap(*builtin_layout({3, 11, false, false}));
    const Address list = heap.list({heap.none()}, 40);
    heap.set(list, heap.layout().list.allocated, std::int64_t{1} << 50);
    CHECK_FALSE(spare_room(heap.reader(list)));
    heap.set(list, heap.layout().list.allocated, std::int64_t{-1});
    CHECK_FALSE(spare_room(heap.reader(list)));
}

TEST_CASE("spare room: a dict after deletions needs the table of what is left", "[analysis][waste]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto room = spare_room(heap.reader(heap.dict(entries_of(heap, 3, 60), {.log2_size = 8})));
    REQUIRE(room);
    CHECK(room->kind == SpareKind::dict);
    const std::uint64_t entry = layout->dict_keys.dk_log2_size.present() ? 16 : 24;
    CHECK(room->now > 170 * entry + 256);
    CHECK(room->now < 170 * entry + 256 * 2 + 64);
    CHECK(room->needed > 5 * entry + 8);
    CHECK(room->needed < 5 * entry + 8 + 64);
    const auto emptied = spare_room(heap.reader(heap.dict(entries_of(heap, 0, 60), {.log2_size = 8})));
    REQUIRE(emptied);
    CHECK(emptied->needed == 0);
    CHECK_FALSE(spare_room(heap.reader(heap.dict(entries_of(heap, 3, 0)))));
    CHECK_FALSE(spare_room(heap.reader(heap.dict(entries_of(heap, 100, 60), {.log2_size = 8}))));
}

TEST_CASE("spare room: a table that others share is nobody's to shrink", "[analysis][waste]") {
    PythonHeapBuilder heap(*builtin_layout({3, 11, false, false}));
    CHECK_FALSE(spare_room(heap.reader(heap.dict(entries_of(heap, 3, 60), {.log2_size = 8, .refcount = 2}))));
}

TEST_CASE("spare room: a set after removals, and not one that has just grown", "[analysis][waste]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    std::vector<Address> items;
    for (int i = 0; i < 20; ++i) items.push_back(heap.integer(1000 + i));
    const auto room = spare_room(heap.reader(heap.set(items, 1024)));
    REQUIRE(room);
    CHECK(room->kind == SpareKind::set);
    CHECK(room->now == block_bytes(1024 * 16));
    CHECK(room->needed == block_bytes(64 * 16));
    CHECK_FALSE(spare_room(heap.reader(heap.set(items, 128))));
    CHECK_FALSE(spare_room(heap.reader(heap.set({items[0]}, 8))));
}

TEST_CASE("spare room: a bytearray of which little is left", "[analysis][waste]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address bytes = heap.object("bytearray");
    heap.put(bytes + *layout->var_object.ob_size, std::int64_t{10});
    heap.set(bytes, layout->bytearray.ob_alloc, std::int64_t{5000});
    const auto room = spare_room(heap.reader(bytes));
    REQUIRE(room);
    CHECK(room->kind == SpareKind::bytearray);
    CHECK(room->now == block_bytes(5000));
    CHECK(room->needed == 16);
    heap.set(bytes, layout->bytearray.ob_alloc, std::int64_t{11});
    CHECK_FALSE(spare_room(heap.reader(bytes)));
    heap.set(bytes, layout->bytearray.ob_alloc, std::int64_t{-1});
    CHECK_FALSE(spare_room(heap.reader(bytes)));
}
