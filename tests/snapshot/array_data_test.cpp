// The data of arrays: it contains no objects. If the core lacks it, it counts with its size and is marked,
// without being damage. A kernel's core names the mapping; gcore's leaves it out, and only the array shows
// that it existed.

#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include "parsers/reading/core_heap.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr Address mapping(0x7f5500000000);
constexpr std::uint64_t page = 4096, data_bytes = 1 << 20;

/// The small core; its list of items has an array whose data is in a separate mapping, or elsewhere.
struct CoreWithArray : SmallCore {
    CoreWithArray() : CoreWithArray(mapping + 16, data_bytes) {}
    CoreWithArray(Address data, std::uint64_t bytes) {
        const Address array_type = heap.c_type("numpy.ndarray", {.basicsize = 96, .own_sizeof = true});
        const Address dtype = heap.object(heap.c_type("numpy.dtype", {.basicsize = 96}));
        heap.put(dtype + 16, heap.builtin("float"));
        heap.put(dtype + 24, 'u');
        heap.put(dtype + 26, '|');
        heap.put(dtype + 28, std::int32_t{2});
        heap.put(dtype + 32, std::int32_t{1});
        array = heap.object(array_type);
        const Address dimensions = heap.allocate(16);
        heap.put(dimensions, bytes);
        heap.put(dimensions + 8, std::int64_t{1});
        heap.put(array + 16, data);
        heap.put(array + 24, std::int32_t{1});
        heap.put(array + 32, dimensions);
        heap.put(array + 40, dimensions + 8);
        heap.put(array + 56, dtype);
        heap.put(array + 64, std::uint32_t{4});
        heap.put(heap.heap().pointer(items + *heap.layout().list.ob_item), array);
    }
    /// malloc's header, alone on the saved page.
    void map_header(std::uint64_t mapping_bytes) {
        heap.map(mapping, page);
        heap.put(mapping + 8, mapping_bytes | 2);
    }
    Address array;
};

struct Opened {
    explicit Opened(SmallCore& core)
        : reader(CoreHeap::open(CoreFile::open(directory.write("core", core.bytes()), {}, diagnostics),
                                all_columns, diagnostics)) {}
    TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreHeap reader;
    ObjectFacts facts(Address address) const { return reader.facts(reader.snapshot().find(address)); }
};

}  // namespace

TEST_CASE("not saved: an array whose mapping gcore left out counts by its size", "[snapshot][numpy]") {
    CoreWithArray core;
    core.gcore = true;
    const bool header = GENERATE(false, true);
    if (header) core.map_header(data_bytes + page);
    const Opened opened(core);
    const ObjectFacts facts = opened.facts(core.array);
    CHECK_FALSE(facts.damaged);
    CHECK(facts.array_data == data_bytes);
    CHECK(facts.not_saved == (header ? data_bytes - page + 16 : data_bytes));
    CHECK(facts.memory >= data_bytes);
    CHECK(facts.size >= data_bytes);
    CHECK(opened.reader.core().memory().state_of(mapping + page) == ByteState::not_saved);
    CHECK(opened.reader.locate(mapping + 5 * page).kind == AddressFinding::Kind::buffer_of_object);
    CHECK(opened.reader.core().extent().mapped_bytes > data_bytes);
    CHECK(opened.reader.value(opened.reader.snapshot().find(core.array)).text ==
          "(1048576,) uint8, not saved");
    CHECK(opened.diagnostics.complete());
}

TEST_CASE("not saved: data that is there is not marked", "[snapshot][numpy]") {
    CoreWithArray core;
    core.gcore = GENERATE(false, true);
    core.heap.map(mapping, data_bytes + page);
    core.heap.put(mapping + 8, std::uint64_t{data_bytes + page} | 2);
    const Opened opened(core);
    CHECK(opened.facts(core.array).not_saved == 0);
    CHECK(opened.facts(core.array).array_data == data_bytes);
    CHECK_FALSE(opened.facts(core.array).damaged);
}

TEST_CASE("not saved: what cannot be a mapping that was left out is damage", "[snapshot][numpy][damaged]") {
    CoreWithArray core;
    core.gcore = true;
    SECTION("a kernel's core names all mappings") { core.gcore = false; }
    SECTION("malloc's header says another length") { core.map_header(64 * page); }
    SECTION("malloc's header is none") { core.heap.map(mapping, page); }
    SECTION("something else lies in it") { core.heap.map(mapping + 16 * page, page); }
    SECTION("it is where no process has memory") {
        core.heap.put(core.array + 16, std::uint64_t{0x900000000010});
    }
    SECTION("it is no address that malloc returns") { core.heap.put(core.array + 16, mapping + 17); }
    const Opened opened(core);
    CHECK(opened.facts(core.array).damaged);
    CHECK(opened.facts(core.array).not_saved == 0);
    CHECK(opened.facts(core.array).memory < data_bytes);
}

TEST_CASE("array data: what reads as an object in the block of an array's elements is none",
          "[snapshot][numpy]") {
    CoreWithArray core(Address(), 24);
    const Address block = core.heap.allocate(24), other = core.heap.allocate(24);
    for (const Address at : {block, other}) {
        core.heap.put(at, std::uint64_t{2});
        core.heap.put(at + 8, core.heap.builtin("float"));
        core.heap.put(at + 16, 0.5);
    }
    core.heap.put(core.array + 16, block);
    SECTION("owned") {
        const Opened opened(core);
        CHECK(opened.reader.snapshot().find(core.array) != no_object);
        CHECK(opened.reader.snapshot().find(block) == no_object);
        CHECK(opened.reader.snapshot().find(other) != no_object);
    }
    SECTION("borrowed: the elements are the object's") {
        core.heap.put(core.array + 64, std::uint32_t{0});
        CHECK(Opened(core).reader.snapshot().find(block) != no_object);
    }
    SECTION("an array that says another length than the block's") {
        core.heap.put(core.heap.heap().pointer(core.array + 32), std::int64_t{400});
        CHECK(Opened(core).reader.snapshot().find(block) != no_object);
    }
}
