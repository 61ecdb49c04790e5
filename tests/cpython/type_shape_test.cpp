#include "parsers/cpython/type_shape.h"

#include "tests/catch.h"
#include "tests/cpython/python_heap_builder.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::uint64_t shape_of(PythonHeapBuilder& heap, Address type) { return type_shape(heap.heap(), type); }

}  // namespace

TEST_CASE("type shape: the same wherever the type lies, whatever has been done with it", "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder here(*layout);
    const Address one = here.c_type("mod.thing", {.basicsize = 40, .own_sizeof = true});
    PythonHeapBuilder there(*layout);
    there.allocate_static(512);
    const Address other = there.c_type("another.name", {.basicsize = 40, .own_sizeof = true});
    REQUIRE(one != other);
    const std::uint64_t shape = shape_of(here, one);
    CHECK(shape != 0);
    CHECK(shape_of(there, other) == shape);

    there.put(other + *layout->type.tp_weaklist, there.none());
    there.put(other + *layout->type.tp_cache, there.none());
    there.put(other + *layout->type.tp_weaklist + 16, std::uint64_t{77});  // tp_version_tag
    const auto flags = there.heap().integer<std::uint64_t>(other + *layout->type.tp_flags);
    there.put(other + *layout->type.tp_flags,
              flags | 1ULL << 19 | 1ULL << 5);  // a valid version; a registered sequence
    CHECK(shape_of(there, other) == shape);
}

TEST_CASE("type shape: sizes, flags, slots and keys of the dictionary make a difference",
          "[cpython][types]") {
    PythonHeapBuilder heap(*layouts_of_3().back());
    const auto& fields = heap.layout().type;
    const std::uint64_t plain = shape_of(heap, heap.c_type("mod.plain", {.basicsize = 40}));
    CHECK(shape_of(heap, heap.c_type("mod.twin", {.basicsize = 40})) == plain);
    CHECK(shape_of(heap, heap.c_type("mod.larger", {.basicsize = 48})) != plain);
    CHECK(shape_of(heap, heap.c_type("mod.items", {.basicsize = 40, .itemsize = 8})) != plain);
    CHECK(shape_of(heap, heap.c_type("mod.keys", {.basicsize = 40, .own_sizeof = true})) != plain);
    CHECK(shape_of(heap, heap.c_type("mod.flags", {.basicsize = 40, .flags = have_gc_flag})) != plain);
    const Address callable = heap.c_type("mod.callable", {.basicsize = 40});
    heap.put(callable + *fields.tp_dealloc + 16, heap.code_address());
    CHECK(shape_of(heap, callable) != plain);
}

TEST_CASE("type shape: what cannot be read has none", "[cpython][types][damaged]") {
    PythonHeapBuilder heap(*layouts_of_3().back());
    CHECK(type_shape(heap.heap(), Address(0x10)) == 0);
}
