// What remains of a dead object in a block of pymalloc that has another owner: the owner wrote a small number where the
// count was, and the type and the fields are still there.

#include "parsers/reading/core_heap.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// Its second pool has two blocks, each with a symtable entry, or what remains of one.
struct CoreWithRemains : SmallCore {
    CoreWithRemains() {
        const auto& l = heap.layout().pool_header;
        const std::uint32_t size = *heap.layout().symtable_entry.size;
        block = (size + 15) / 16 * 16;
        const Address second = heap.map(Address(0x7d0000004000), 16384);
        heap.set(second, l.ref_count, std::uint32_t{2});
        heap.set(second, l.szidx, block / 16 - 1);
        heap.set(second, l.nextoffset, 48 + 2 * block);
        heap.set(second, l.maxnextoffset, 16384 - block);
        first = second + 48;
        other = first + block;
        entry_type = heap.c_type("symtable entry", {.basicsize = size});
    }

    /// A symtable entry in each block.
    void put_entries(Address referent, Address another) {
        const auto& l = heap.layout().symtable_entry;
        for (const Address at : {first, other}) {
            heap.put(at, std::uint64_t{1});
            heap.put(at + 8, entry_type);
            heap.set(at, l.id, referent);
            heap.set(at, l.name, another);
        }
    }

    bool finds(Address object) {
        const TemporaryDirectory directory;
        Diagnostics diagnostics;
        const CoreHeap reader = CoreHeap::open(
            CoreFile::open(directory.write("core", bytes()), {}, diagnostics), all_columns, diagnostics);
        return reader.snapshot().find(object) != no_object;
    }

    Address first, other, entry_type;
    std::uint32_t block = 0;  // bytes
};

}  // namespace

TEST_CASE("data blocks: what reads as an object where an object's numbers begin is none", "[snapshot]") {
    CoreWithRemains core;
    core.put_entries(core.number, core.text);
    CHECK(core.finds(core.first));
    SECTION("the marks of an Unpickler") {
        const auto& l = core.heap.layout().unpickler;
        const Address unpickler =
            core.heap.object(core.heap.c_type("_pickle.Unpickler", {.basicsize = *l.size}));
        core.heap.set(unpickler, l.marks, core.first);
        core.heap.set(unpickler, l.marks_size, std::uint64_t{core.block / 8});
        CHECK_FALSE(core.finds(core.first));
        CHECK(core.finds(core.other));
        core.heap.set(unpickler, l.marks_size, std::uint64_t{core.block / 4});  // not the block's size
        CHECK(core.finds(core.first));
    }
    SECTION("the bytes of a bytearray") {
        const auto& l = core.heap.layout().bytearray;
        const Address array = core.heap.object("bytearray");
        core.heap.set(array, l.ob_bytes, core.first);
        core.heap.set(array, l.ob_alloc, std::int64_t{core.block - 10});
        CHECK_FALSE(core.finds(core.first));
        CHECK(core.finds(core.other));
    }
}

TEST_CASE("remains: two references that lead to nothing are a dead object's, one was overwritten",
          "[snapshot]") {
    CoreWithRemains core;
    const Address nothing = core.kept_float + 8;
    core.put_entries(nothing, core.text);
    CHECK(core.finds(core.first));
    core.put_entries(nothing, core.freed_float);
    CHECK_FALSE(core.finds(core.first));
    core.put_entries(nothing, Address(0x7e0000000000));  // whose memory was not saved
    CHECK(core.finds(core.first));
}
