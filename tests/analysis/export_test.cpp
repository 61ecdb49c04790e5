// The rows of an export: every type, object and array, with the generation from the collector's lists and the
// array's own fields, read from memory that the test lays out.

#include "analysis/export.h"

#include "analysis/generations.h"
#include "parsers/numpy/kinds.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t export_start = 0x10000;

/// Words of memory, and the layout of 3.11.
struct Memory {
    const Layout& layout = *builtin_layout({3, 11, false, false});
    std::string bytes = std::string(8192, '\0');

    template <class T>
    void put(std::uint64_t at, T value) {
        put_at(bytes, at - export_start, value);
    }
    std::string core() const {
        return CoreWriter()
            .thread(100, 0)
            .process(100, "python3", "python3")
            .load(export_start, bytes)
            .bytes();
    }
};

/// Four lists of the collector at 0x10000, and objects at 0x10400, 0x10500, …
struct Collector : Memory {
    Collector() {
        PythonInterpreter interpreter;
        interpreter.gc = Address(export_start);
        heap.layout = layout;
        heap.interpreters = {interpreter};
        for (std::uint64_t i = 0; i < objects; ++i)
            heap.objects.push_back({Address(object(i)), "list", facts(56, 64), {}, {}});
        for (std::uint64_t generation = 0; generation < 3; ++generation) link(head(generation), {});
        link(frozen(), {});
    }
    static std::uint64_t object(std::uint64_t i) { return export_start + 0x400 + 0x100 * i; }
    std::uint64_t head(std::uint64_t generation) const {
        return export_start + *layout.gc_state.generations + generation * *layout.gc_generation.size;
    }
    std::uint64_t frozen() const { return export_start + *layout.gc_state.permanent_generation; }

    /// The low bits are flags of the collector; they are set here.
    void link(std::uint64_t head, const std::vector<std::uint64_t>& numbers) {
        std::uint64_t previous = head;
        for (const std::uint64_t number : numbers) {
            const std::uint64_t node = object(number) - 16;
            put(previous, node);
            put(node + 8, previous | 1);
            previous = node;
        }
        put(previous, head);
        put(head + 8, previous);
    }
    std::vector<int> answer() {
        heap.core_bytes = core();
        const auto found = generations(heap.build());
        return {found.begin(), found.end()};
    }

    static constexpr std::uint64_t objects = 6;
    HandmadeHeap heap;
};

}  // namespace

TEST_CASE("generations: the list that an object is in, frozen ones, and none", "[export]") {
    Collector collector;
    collector.link(collector.head(0), {4});
    collector.link(collector.head(2), {0, 2});
    collector.link(collector.frozen(), {3});
    CHECK(collector.answer() == std::vector<int>{2, no_generation, 2, frozen_generation, 0, no_generation});
}

TEST_CASE("generations: a damaged header costs only itself", "[export]") {
    Collector collector;
    collector.link(collector.head(1), {0, 1, 2, 3, 4});
    collector.put(Collector::object(2) - 16, std::uint64_t{0x4141414141414141});
    collector.put(Collector::object(2) - 8, std::uint64_t{0x4141414141414141});
    CHECK(collector.answer() == std::vector<int>{1, 1, no_generation, 1, 1, no_generation});
}

TEST_CASE("generations: a ring that never comes back ends", "[export]") {
    Collector collector;
    collector.link(collector.head(1), {0, 1, 2});
    collector.put(Collector::object(2) - 16, Collector::object(0) - 16);
    collector.put(Collector::object(0) - 8, Collector::object(2) - 16);
    CHECK(collector.answer()[5] == no_generation);
}

TEST_CASE("export: types with their bases, objects with type and generation", "[export]") {
    HandmadeHeap heap;
    TypeInfo base, derived;
    base.address = Address(0x800);
    base.name = "object";
    base.basicsize = 16;
    derived.address = Address(0x900);
    derived.name = "app.Node";
    derived.base = TypeId(0);
    heap.types = {base, derived};
    heap.objects = {{Address(0x10100), "app.Node", facts(48, 64), literal("'x'", 1), {}}};
    const HandmadeReader reader = heap.build();
    const HeapGraph graph(reader);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    const ObjectStates states = object_states(graph);
    const ExportReader rows(graph, sizes, states);
    REQUIRE(rows.type_count() == 2);
    CHECK_FALSE(rows.type(TypeId(0)).base.has_value());
    CHECK(rows.type(TypeId(0)).basicsize == 16);
    CHECK(rows.type(TypeId(1)).base == TypeId{0});
    const ExportedObject object = rows.object(ObjectId(0));
    CHECK(object.type == TypeId{1});
    CHECK_FALSE(object.generation.has_value());
    CHECK(object.row.facts.memory == 64);
    CHECK(object.row.value.text == "'x'");
}

TEST_CASE("export: an array's fields; of one that does not read, the address", "[export][numpy]") {
    Memory memory;
    constexpr std::uint64_t array_type = 0x800, dtype_type = 0x900, array = 0x10100, torn = 0x10200,
                            dtype = 0x10300, dimensions = 0x10400, data = 0x10500;
    HandmadeHeap heap;
    heap.layout = memory.layout;
    TypeInfo of_array, of_dtype;
    of_array.address = Address(array_type);
    of_array.name = "numpy.ndarray";
    of_array.kind = &ndarray_kind;
    of_array.basicsize = 96;
    of_dtype.address = Address(dtype_type);
    of_dtype.name = "numpy.dtype";
    of_dtype.basicsize = 96;
    heap.types = {of_array, of_dtype};
    heap.objects = {{Address(array), "numpy.ndarray", facts(112, 128), {}, {}},
                    {Address(torn), "numpy.ndarray", facts(112, 128), {}, {}},
                    {Address(dtype), "numpy.dtype", facts(96, 96), {}, {}}};
    memory.put(array + 8, array_type);
    memory.put(array + 16, data);
    memory.put(array + 24, std::int32_t{2});
    memory.put(array + 32, dimensions);
    memory.put(array + 40, dimensions + 16);
    memory.put(array + 56, dtype);
    memory.put(array + 64, std::uint32_t{4});
    memory.put(torn + 8, array_type);
    memory.put(torn + 24, std::int32_t{-1});
    memory.put(dtype + 8, dtype_type);
    memory.put(dtype + 24, 'f');
    memory.put(dtype + 26, '<');
    memory.put(dtype + 28, std::int32_t{12});
    memory.put(dtype + 32, std::int32_t{8});
    for (std::uint64_t i = 0; i < 4; ++i)
        memory.put(dimensions + 8 * i, std::int64_t{i == 0 ? 3 : i == 1 ? 4 : i == 2 ? 32 : 8});
    heap.core_bytes = memory.core();
    const HandmadeReader reader = heap.build();
    const HeapGraph graph(reader);
    const RetainedSizes sizes = retained_sizes(graph);
    const RetainedLookup retained(graph, sizes);
    const ObjectStates states = object_states(graph);
    const ExportReader rows(graph, sizes, states);
    CHECK(is_array(reader.snapshot(), ObjectId(0)));
    CHECK_FALSE(is_array(reader.snapshot(), ObjectId(2)));
    const ArrayRow row = array_row(reader, ObjectId(0));
    CHECK(row.dtype == "<f8");
    CHECK(row.shape == std::vector<std::int64_t>{3, 4});
    CHECK(row.strides == std::vector<std::int64_t>{32, 8});
    CHECK(row.nbytes == 96U);
    CHECK(row.data == Address(data));
    CHECK(row.owns_data == true);
    CHECK_FALSE(row.base.has_value());
    CHECK(row.owner == Address(array));
    const ArrayRow other = array_row(reader, ObjectId(1));
    CHECK(other.address == Address(torn));
    CHECK_FALSE(other.shape.has_value());
    CHECK_FALSE(other.owner.has_value());
}
