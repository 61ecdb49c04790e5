// list, tuple, set and deque: what they hold, what they have room for, and what a deleted entry leaves
// behind. Sizes are those of sys.getsizeof on a 64-bit CPython, without the sixteen bytes of the collector's
// header.

#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("list: items are referents, spare capacity is not", "[cpython][list]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address item = heap.integer(7);
    const Address list = heap.list({item}, 4);
    heap.put(heap.heap().pointer(list + *layout->list.ob_item) + 8,
             item);  // what pop() left in the spare capacity
    CHECK(references(heap, list) == std::vector<Seen>{{item, "[0]", ReferenceKind::strong}});
}

TEST_CASE("list: its size is 40 bytes and eight for each place", "[cpython][list]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(size_of(heap, heap.list({})) == 40);
    const Address list = heap.list({heap.none()}, 4);
    CHECK(size_of(heap, list) == 40 + 4 * 8);
    CHECK(buffers(heap, list) ==
          std::vector<SeenBuffer>{{heap.heap().pointer(list + *layout->list.ob_item), 32, false}});
    CHECK(text_of(heap, list) == "list of 1");
    CHECK(buffers(heap, heap.list({})).empty());
}

TEST_CASE("list: the same item twice is two references, a null item is none", "[cpython][list]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address item = heap.integer(7);
    const Address list = heap.list({item, Address(), item});
    CHECK(references(heap, list) ==
          std::vector<Seen>{{item, "[0]", ReferenceKind::strong}, {item, "[2]", ReferenceKind::strong}});
}

TEST_CASE("tuple: its header, since 3.14 with a hash, and eight bytes an item", "[cpython][tuple]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address a = heap.integer(1);
    const Address b = heap.str("b");
    const Address tuple = heap.tuple({a, b});
    const std::uint64_t header = since(14).contain(layout->version) ? 32 : 24;
    CHECK(size_of(heap, heap.tuple({})) == header);
    CHECK(size_of(heap, tuple) == header + 16);
    CHECK(referents(heap, tuple) == std::vector{a, b});
    CHECK(buffers(heap, tuple).empty());
    CHECK(plausible(heap, tuple));
    CHECK(text_of(heap, tuple) == "tuple of 2");
}

TEST_CASE("set: up to eight slots lie inside the object", "[cpython][set]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address a = heap.integer(1);
    const Address b = heap.integer(2);
    const Address set = heap.set({a, b});
    CHECK(size_of(heap, set) == 200);
    CHECK(buffers(heap, set).empty());
    CHECK(referents(heap, set) == std::vector{a, b});
    CHECK(text_of(heap, set) == "set of 2");
}

TEST_CASE("set: a larger table is a block of sixteen bytes a slot", "[cpython][set]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address a = heap.str("a");
    const Address set = heap.set({a}, 32);
    CHECK(size_of(heap, set) == 200 + 32 * 16);
    CHECK(buffers(heap, set) ==
          std::vector<SeenBuffer>{{heap.heap().pointer(set + *layout->set.table), 512, false}});
    CHECK(references(heap, set) == std::vector<Seen>{{a, "key a", ReferenceKind::strong}});
}

TEST_CASE("set: the dummy of a deleted entry is not a member", "[cpython][set]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address dummy = heap.object("object");
    const Address kept = heap.integer(2);
    const Address set = heap.set({dummy, kept});
    heap.put(set + *layout->set.smalltable + 8, std::int64_t{-1});
    CHECK(referents(heap, set) == std::vector{kept});
}

namespace {

struct Deque {
    Address object;
    std::vector<Address> blocks;
};

/// `items` from slot `left` of the first block on.
Deque make_deque(PythonHeapBuilder& heap, const std::vector<Address>& items, std::uint64_t left) {
    const Layout& l = heap.layout();
    Deque deque;
    deque.object = heap.object("collections.deque");
    const std::size_t blocks = std::max<std::size_t>(1, (left + items.size() + 63) / 64);
    for (std::size_t i = 0; i < blocks; ++i) deque.blocks.push_back(heap.allocate(*l.deque_block.size));
    for (std::size_t i = 0; i < items.size(); ++i)
        heap.put(deque.blocks[(left + i) / 64] + *l.deque_block.data + 8 * ((left + i) % 64), items[i]);
    for (std::size_t i = 0; i + 1 < blocks; ++i) {
        heap.set(deque.blocks[i], l.deque_block.rightlink, deque.blocks[i + 1]);
        heap.set(deque.blocks[i + 1], l.deque_block.leftlink, deque.blocks[i]);
    }
    heap.put(deque.object + *l.var_object.ob_size, static_cast<std::int64_t>(items.size()));
    heap.set(deque.object, l.deque.leftblock, deque.blocks.front());
    heap.set(deque.object, l.deque.rightblock, deque.blocks.back());
    heap.set(deque.object, l.deque.leftindex, left);
    return deque;
}

}  // namespace

TEST_CASE("deque: items are found across its blocks, from the left index on", "[cpython][deque]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    std::vector<Address> items;
    for (int i = 0; i < 100; ++i) items.push_back(heap.integer(i));
    const Deque deque = make_deque(heap, items, 50);
    CHECK(referents(heap, deque.object) == items);
    CHECK(reference(heap, deque.object, "[99]").target == items.back());
    CHECK(text_of(heap, deque.object) == "deque of 100");
}

TEST_CASE("deque: its size counts one block for every 64 places", "[cpython][deque]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const std::uint64_t header = *layout->deque.size;
    const Deque empty = make_deque(heap, {}, 32);
    CHECK(size_of(heap, empty.object) == header + 528);
    const Deque two = make_deque(heap, std::vector<Address>(40, heap.none()), 32);
    CHECK(size_of(heap, two.object) == header + 2 * 528);
    const auto found = buffers(heap, two.object);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == SeenBuffer{two.blocks[0], 528, false});
    CHECK(found[1] == SeenBuffer{two.blocks[1], 528, false});
}

TEST_CASE("deque: links that form a ring do not hold up a walk, whatever its length says",
          "[cpython][deque][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Deque deque = make_deque(heap, std::vector<Address>(100, heap.none()), 0);
    heap.put(deque.object + *layout->var_object.ob_size, std::int64_t{1} << 61);
    heap.set(deque.blocks[1], layout->deque_block.rightlink, deque.blocks[0]);
    heap.set(deque.blocks[0], layout->deque_block.leftlink, deque.blocks[1]);
    heap.set(deque.object, layout->deque.rightblock, Address(0x10));
    CHECK(all_references(heap, deque.object).count <= 128);
    CHECK(buffers(heap, deque.object).size() <= 3);
    heap.set(deque.blocks[1], layout->deque_block.rightlink, deque.blocks[1]);
    CHECK(all_references(heap, deque.object).count <= 192);
}

TEST_CASE("deque: an absurd left index is not followed out of its block", "[cpython][deque][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Deque deque = make_deque(heap, {heap.none(), heap.none()}, 0);
    heap.set(deque.object, layout->deque.leftindex, std::uint64_t{1} << 40);
    CHECK(referents(heap, deque.object).size() <= 2);
    ask_everything(heap, deque.object);
}
