// What only CPython 2.7 has in memory: the characters of a unicode apart from it, numbers that share a block.

#include "parsers/snapshot/data_blocks.h"
#include "tests/catch.h"
#include "tests/cpython/python_heap_builder.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// A core with the memory of a heap of 2.7, and its blocks.
struct OldCore {
    explicit OldCore(PythonHeapBuilder& heap)
        : core(CoreFile::open(directory.write("core", bytes_of(heap)), {}, diagnostics)),
          allocations(core, {}, MallocHeaps::find(core.memory())),
          access(heap.heap(), allocations) {}

    static std::string bytes_of(PythonHeapBuilder& heap) {
        CoreWriter core;
        core.thread(100, 11).process(100, "python2.7", "python2.7 app.py ");
        for (const Region& region : heap.regions())
            core.load(region.start.value,
                      std::string(reinterpret_cast<const char*>(region.bytes.data()), region.bytes.size()), 0,
                      PF_R | (region.writable ? PF_W : 0U) | (region.executable ? PF_X : 0U));
        return core.bytes();
    }

    TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreFile core;
    Allocations allocations;
    ObjectAccess access;
};

}  // namespace

TEST_CASE("2.7: where the characters of a unicode begin there is no object", "[snapshot][2.7]") {
    PythonHeapBuilder heap(*builtin_layout({2, 7}));
    const Address quote = heap.str32(U"\""), word = heap.str32(U"word");
    const auto characters = [&](Address text) {
        return heap.heap().pointer(text + *heap.layout().unicode.str);
    };
    // A block that had an object: the text writes one word, and the type is still there.
    heap.put(characters(quote) + 8, heap.c_type("imp.NullImporter", {.basicsize = 16}));
    const OldCore core(heap);
    const TypeId type = heap.type_id(heap.builtin("unicode"));
    DataBlocks data(core.access);
    REQUIRE(data.may_have(type));
    const auto anywhere = [](Address) { return true; };
    data.add(quote, type, anywhere);
    data.add(word, type, anywhere);
    data.sort();
    CHECK(data.contains(characters(quote)));
    CHECK_FALSE(data.contains(characters(word)));  // written over what was there
    CHECK_FALSE(data.contains(quote));
}

TEST_CASE("2.7: an int or a float in a block of numbers is counted as long as it is", "[snapshot][2.7]") {
    PythonHeapBuilder heap(*builtin_layout({2, 7}));
    const Address block = heap.allocate(1000);
    const Address number = block + 8, last = block + 8 + 40 * 24, alone = heap.integer(7);
    heap.put(number, std::uint64_t{1});
    heap.put(number + 8, heap.builtin("int"));
    heap.put(last, std::uint64_t{1});
    heap.put(last + 8, heap.builtin("float"));
    const OldCore core(heap);
    struct Visitor : PlaceVisitor {
        void visit(Address, std::uint64_t bytes, const Allocations::Held& held, Role) override {
            sum += bytes;
            counted += held.bytes;
        }
        std::uint64_t sum = 0, counted = 0;
    } visitor;
    for (const auto& [object, name] : {std::pair(number, "int"), std::pair(last, "float")}) {
        const TypeInfo& type = heap.type(heap.builtin(name));
        const ObjectSizes sizes = core.access.sizes(object, type);
        CHECK(sizes.size == 24);
        CHECK(sizes.memory == 24);
        CHECK(sizes.block_size == 24);
        CHECK_FALSE(sizes.damaged);
        core.access.visit_places(object, type, visitor);
    }
    CHECK(visitor.sum == 48);
    CHECK(visitor.counted == 48);
    // One that has a block of its own has all of it.
    CHECK(core.access.sizes(alone, heap.type(heap.builtin("int"))).memory == 24);
}
