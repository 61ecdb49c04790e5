// Objects around raw bytes, and the standard library's C types whose __sizeof__ counts more than their
// header.

#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr auto strong = ReferenceKind::strong;
constexpr auto hidden = ReferenceKind::hidden;

}  // namespace

TEST_CASE("array.array: allocated places of its typecode's size, as array data", "[cpython][array]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->array;
    const Address descr = heap.allocate_static(*layout->array_descr.size);
    heap.set(descr, layout->array_descr.typecode, 'h');
    heap.set(descr, layout->array_descr.itemsize, std::int32_t{2});
    const Address items = heap.allocate(20);
    const Address array = heap.object("array.array");
    heap.put(array + *layout->var_object.ob_size, std::int64_t{7});
    heap.set(array, l.ob_item, items);
    heap.set(array, l.allocated, std::int64_t{10});
    heap.set(array, l.ob_descr, descr);
    CHECK(size_of(heap, array) == 64 + 20);
    CHECK(buffers(heap, array) == std::vector<SeenBuffer>{{items, 20, true}});
    CHECK(text_of(heap, array) == "array 'h' of 7");
    heap.set(array, l.ob_descr, Address(0x123456789000));
    ask_everything(heap, array);
    CHECK(size_of(heap, array) == 64);
}

TEST_CASE("memoryview: its managed buffer is strong, the object behind it is that buffer's",
          "[cpython][memoryview]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address source = heap.bytes("abc");
    const Address managed = heap.object("managedbuffer");
    heap.put(managed + *layout->managed_buffer.master + *layout->buffer.obj, source);
    const Address view = heap.object("memoryview", 3);
    heap.set(view, layout->memoryview.mbuf, managed);
    heap.put(view + *layout->memoryview.view + *layout->buffer.obj, source);
    CHECK(referents(heap, view) == std::vector{managed});
    CHECK(reference(heap, view, ".obj").kind == ReferenceKind::weak);
    CHECK(references(heap, managed) == std::vector<Seen>{{source, ".<object>", strong}});
}

TEST_CASE("BytesIO: bytes that nobody shares are counted", "[cpython][io]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->bytes_io;
    const Address io = heap.object("_io.BytesIO");
    CHECK(size_of(heap, io) == *l.size);
    const Address bytes = heap.bytes("hello");
    heap.set(io, l.buf, bytes);
    // bytesio_sizeof adds sys.getsizeof of the bytes: 33 plus one per byte.
    CHECK(size_of(heap, io) == *l.size + 33 + 5);
    heap.put(bytes, std::int64_t{2});
    CHECK(size_of(heap, io) == *l.size);
    CHECK(reference(heap, io, ".<buffer>") == Seen{bytes, ".<buffer>", heap.minor() >= 12 ? strong : hidden});
}

TEST_CASE("buffered files: the buffer is theirs, the raw file a reference", "[cpython][io]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->buffered;
    const Address file = heap.object("_io.BufferedReader");
    const Address raw = heap.object("object");
    const Address buffer = heap.allocate(8192);
    heap.set(file, l.raw, raw);
    CHECK(size_of(heap, file) == *l.size);
    heap.set(file, l.buffer, buffer);
    heap.set(file, l.buffer_size, std::uint64_t{8192});
    CHECK(size_of(heap, file) == *l.size + 8192);
    CHECK(buffers(heap, file) == std::vector<SeenBuffer>{{buffer, 8192, false}});
    CHECK(reference(heap, file, ".raw").target == raw);
}

TEST_CASE("itertools: indices are counted by pools, picks and cycles", "[cpython][itertools]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address pool = heap.tuple({heap.none(), heap.none(), heap.none(), heap.none()});
    const Address product = heap.object("itertools.product");
    heap.set(product, layout->product.pools, pool);
    heap.set(product, layout->product.indices, heap.allocate(32));
    CHECK(size_of(heap, product) == *layout->product.size + 4 * 8);
    CHECK(reference(heap, product, ".<pools>").target == pool);
    const Address combinations = heap.object("itertools.combinations");
    heap.set(combinations, layout->combinations.pool, pool);
    heap.set(combinations, layout->combinations.indices, heap.allocate(16));
    heap.set(combinations, layout->combinations.r, std::int64_t{2});
    CHECK(size_of(heap, combinations) == *layout->combinations.size + 2 * 8);
    const Address permutations = heap.object("itertools.permutations");
    heap.set(permutations, layout->permutations.pool, pool);
    heap.set(permutations, layout->permutations.indices, heap.allocate(32));
    heap.set(permutations, layout->permutations.cycles, heap.allocate(16));
    heap.set(permutations, layout->permutations.r, std::int64_t{2});
    CHECK(size_of(heap, permutations) == *layout->permutations.size + (4 + 2) * 8);
    CHECK(buffers(heap, permutations).size() == 2);
    heap.set(permutations, layout->permutations.r, std::int64_t{-1});
    heap.set(permutations, layout->permutations.pool, Address(0x123456789000));
    CHECK(size_of(heap, permutations) == *layout->permutations.size);
    ask_everything(heap, permutations);
}

TEST_CASE("Struct: one code more than its format has", "[cpython][struct]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const std::uint64_t code = *layout->format_code.size;
    const Address codes = heap.allocate(3 * code);
    for (std::uint64_t i = 0; i < 2; ++i)
        heap.put(codes + i * code + *layout->format_code.fmtdef, heap.code_address());
    const Address object = heap.object("_struct.Struct");
    heap.set(object, layout->struct_.s_codes, codes);
    CHECK(size_of(heap, object) == *layout->struct_.size + 3 * code);
    CHECK(buffers(heap, object) == std::vector<SeenBuffer>{{codes, 3 * code, false}});
}

TEST_CASE("Decimal: digits that it allocated, not those inside it", "[cpython][decimal]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->decimal;
    const Address data = heap.allocate(64);
    const Address decimal = heap.object("decimal.Decimal");
    heap.set(decimal, l.dec_alloc, std::int64_t{8});
    heap.set(decimal, l.dec_data, data);
    CHECK(size_of(heap, decimal) == *l.size + 8 * 8);
    CHECK(buffers(heap, decimal) == std::vector<SeenBuffer>{{data, 64, false}});
    heap.set(decimal, l.dec_flags, std::uint8_t{64});  // MPD_STATIC_DATA, of mpdecimal.h: 0x40
    CHECK(size_of(heap, decimal) == *l.size);
    CHECK(buffers(heap, decimal).empty());
}

TEST_CASE("Element: text with a mark in its pointer, children inside its extra block or outside",
          "[cpython][element]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->element;
    const auto& x = layout->element_extra;
    const Address element = heap.object("xml.etree.ElementTree.Element");
    const Address text = heap.list({});
    const Address child = heap.object("xml.etree.ElementTree.Element");
    heap.set(element, l.text, text + 1);
    CHECK(reference(heap, element, ".text").target == text);
    CHECK(size_of(heap, element) == *l.size);
    const Address extra = heap.allocate(*x.size);
    heap.set(element, l.extra, extra);
    heap.set(extra, x.length, std::uint64_t{1});
    heap.set(extra, x.allocated, std::uint64_t{4});
    heap.set(extra, x.children, extra + *x.inline_children);
    heap.put(extra + *x.inline_children, child);
    CHECK(reference(heap, element, "[0]").target == child);
    CHECK(size_of(heap, element) == *l.size + *x.size);
    const Address outside = heap.allocate(8 * 10);
    heap.put(outside, child);
    heap.set(extra, x.children, outside);
    heap.set(extra, x.allocated, std::uint64_t{10});
    CHECK(size_of(heap, element) == *l.size + *x.size + 10 * 8);
    CHECK(buffers(heap, element) == std::vector<SeenBuffer>{{extra, *x.size, false}, {outside, 80, false}});
}

TEST_CASE("sequences: absurd lengths stop where memory stops", "[cpython][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address item = heap.none();
    // The array ends where its mapping ends.
    const Address array = heap.map(Address(0x600000000000), 4096) + (4096 - 32);
    for (std::uint64_t i = 0; i < 4; ++i) heap.put(array + 8 * i, item);
    const Address list = heap.list({});
    heap.set(list, layout->list.ob_item, array);
    for (const std::int64_t length : {std::int64_t{5}, std::int64_t{1} << 40, std::int64_t{1} << 62}) {
        heap.put(list + *layout->var_object.ob_size, length);
        heap.set(list, layout->list.allocated, std::int64_t{3});
        // no more than it says it has room for
        CHECK(referents(heap, list) == std::vector<Address>(3, item));
        heap.set(list, layout->list.allocated, length);
        CHECK(referents(heap, list) == std::vector<Address>(4, item));
        ask_everything(heap, list);
    }
    for (const std::int64_t length : {std::int64_t{-1}, std::int64_t{-1} << 62}) {
        heap.put(list + *layout->var_object.ob_size, length);
        CHECK(references(heap, list).empty());
        ask_everything(heap, list);
    }
    heap.put(list + *layout->var_object.ob_size, std::int64_t{1});
    heap.set(list, layout->list.ob_item, Address(0x123456789000));
    CHECK(references(heap, list).empty());
    const Address tuple = heap.tuple({item});
    for (const std::int64_t length : {std::int64_t{-1}, std::int64_t{1} << 45, std::int64_t{1} << 62}) {
        heap.put(tuple + *layout->var_object.ob_size, length);
        CHECK_FALSE(plausible(heap, tuple));
        ask_everything(heap, tuple);
    }
    const Address set = heap.set({item});
    heap.set(set, layout->set.table, array);
    for (const std::int64_t mask : {std::int64_t{1} << 40, std::int64_t{1} << 62, std::int64_t{-1}}) {
        heap.set(set, layout->set.mask, mask);
        CHECK(all_references(heap, set).count <= 2);
        ask_everything(heap, set);
    }
}
