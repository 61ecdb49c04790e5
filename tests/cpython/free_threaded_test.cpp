// Objects of free-threaded builds: a header of 32 bytes with two counts, the collector's bits and an owner; nothing of
// the collector's before the object; a list's array with its length. Source: object.h, pycore_gc.h, listobject.c of 3.13.

#include "parsers/cpython/build/collector.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/instance.h"

#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t bits_at = 11, local_at = 12, shared_at = 16;

}  // namespace

TEST_CASE("free-threaded: the count is the sum of two", "[cpython][free-threaded]") {
    const Layout* layout = GENERATE(from_range(free_threaded_layouts()));
    PythonHeapBuilder heap(*layout);
    const Address object = heap.list({});
    heap.put(object + local_at, std::uint32_t{5});
    heap.put(object + shared_at, std::int64_t{3} << 2 | 1);
    CHECK(count_of(heap.heap(), object) == 8);
    // Others gave back what the owner took.
    heap.put(object + shared_at, std::int64_t{-4} * 4);
    CHECK(count_of(heap.heap(), object) == 1);
    heap.put(object + shared_at, std::int64_t{-6} * 4);
    CHECK(count_of(heap.heap(), object) == 0);
    // Merged: all of it is in the second.
    heap.put(object + local_at, std::uint32_t{0});
    heap.put(object + shared_at, std::int64_t{7} << 2 | 3);
    CHECK(count_of(heap.heap(), object) == 7);
    heap.put(object + local_at, ~std::uint32_t{0});
    CHECK(is_immortal_count(*layout, count_of(heap.heap(), object)));
}

TEST_CASE("free-threaded: of a deferred count one is the collector's own", "[cpython][free-threaded]") {
    const Layout* layout = GENERATE(from_range(free_threaded_layouts()));
    PythonHeapBuilder heap(*layout);
    const Address object = heap.object("function");
    heap.put(object + local_at, std::uint32_t{3});
    CHECK(references_counted(heap.heap(), object) == 3);
    heap.put(object + bits_at, std::uint8_t{gc_bit_deferred | gc_bit_tracked});
    CHECK(references_counted(heap.heap(), object) == 2);
    CHECK(count_of(heap.heap(), object) == 3);
    heap.put(object + local_at, ~std::uint32_t{0});
    CHECK(is_immortal_count(*layout, references_counted(heap.heap(), object)));
}

TEST_CASE("free-threaded: nothing of the collector's is before an object, and there are no lists",
          "[cpython][free-threaded]") {
    const Layout* layout = GENERATE(from_range(free_threaded_layouts()));
    CHECK(has_collector_bits(*layout));
    CHECK(bytes_before_instance(*layout, heapsift::have_gc_flag) == 0);
    CHECK(bytes_before_instance(*layout, heapsift::have_gc_flag | heapsift::managed_dict_flag) == 16);
    CHECK(counted_before_instance(*layout, heapsift::have_gc_flag, true, false) == 0);
    PythonRuntime python;
    python.layout = *layout;
    python.interpreters.emplace_back();
    CHECK(collector_lists(python).empty());
}

TEST_CASE("free-threaded: a list's array begins with its length", "[cpython][free-threaded]") {
    const Layout* layout = GENERATE(from_range(free_threaded_layouts()));
    PythonHeapBuilder heap(*layout);
    const Address item = heap.integer(7);
    const Address list = heap.list({item}, 4);
    CHECK(references(heap, list) == std::vector<Seen>{{item, "[0]", ReferenceKind::strong}});
    CHECK(size_of(heap, list) == 56 + 4 * 8);
    CHECK(buffers(heap, list) ==
          std::vector<SeenBuffer>{{heap.heap().pointer(list + *layout->list.ob_item) - 8, 40, false}});
}

TEST_CASE("free-threaded: the word for an instance's dict is right before it", "[cpython][free-threaded]") {
    const Layout* layout = GENERATE(from_range(free_threaded_layouts()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Point", {.attributes = {"x"}});
    const Address object = heap.object(type);
    const Address dict = heap.dict({{heap.str("y"), heap.none()}});
    heap.put(object - 8, dict);
    CHECK(instance_dict(heap.reader(object)).dict == dict);
}

TEST_CASE("free-threaded: strings, numbers and tuples read", "[cpython][free-threaded]") {
    const Layout* layout = GENERATE(from_range(free_threaded_layouts()));
    PythonHeapBuilder heap(*layout);
    CHECK(text_of(heap, heap.integer(-12)) == "-12");
    CHECK(text_of(heap, heap.str("spam")) == "'spam'");
    const Address tuple = heap.tuple({heap.none(), heap.none()});
    CHECK(size_of(heap, tuple) == 40 + 16);
    CHECK(plausible(heap, tuple));
}
