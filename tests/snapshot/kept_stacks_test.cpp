// The collector's empty stacks of objects, in a core whose layout is made to say that there is no GIL.

#include "parsers/snapshot/kept_stacks.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

std::vector<AddressRange> kept(SmallCore& small, bool without_gil = true) {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreFile core = CoreFile::open(directory.write("core", small.bytes()), {}, diagnostics);
    PythonRuntime python = find_python_runtime(core, diagnostics);
    if (without_gil) python.layout.object.ob_gc_bits = 11;
    const TypeTable none;
    const PythonHeap heap(core.memory(), python, none);
    const Allocations allocations(core, Pymalloc::find(heap, diagnostics), MallocHeaps::find(core.memory()));
    return kept_object_stacks(heap, allocations);
}

Address thread_of(SmallCore& small) {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreFile core = CoreFile::open(directory.write("core", small.bytes()), {}, diagnostics);
    return find_python_runtime(core, diagnostics).interpreters.front().threads.front();
}

}  // namespace

TEST_CASE("kept stacks: what is left in the collector's empty stacks is dead", "[snapshot][free-threaded]") {
    SmallCore small;
    const Address second = small.heap.allocate(2048), first = small.heap.allocate(2048);
    small.heap.put(first, second);
    for (std::uint64_t i = 0; i < 254; ++i) small.heap.put(first + 16 + 8 * i, small.instance);
    const Address list = thread_of(small) + *small.heap.layout().thread_state.size - 16;
    small.heap.put(list, first);
    small.heap.put(list + 8, std::uint64_t{2});
    SECTION("all of it, of each chunk") {
        const std::vector<AddressRange> dead = kept(small);
        REQUIRE(dead.size() == 2);
        CHECK(dead[0].start == second + 16);
        CHECK(dead[1].start == first + 16);
        CHECK(dead[1].contains(first + 2047));
        CHECK_FALSE(dead[1].contains(first + 2048));
    }
    SECTION("with a GIL there are none") { CHECK(kept(small, false).empty()); }
    SECTION("one is in use") {
        small.heap.put(second + 8, std::uint64_t{1});
        CHECK(kept(small).empty());
    }
    SECTION("there are more than the list has, or fewer") {
        small.heap.put(list + 8, std::uint64_t{GENERATE(1u, 3u)});
        CHECK(kept(small).empty());
    }
    SECTION("a chunk has no block of its own, or a larger one") {
        small.heap.put(first, GENERATE_REF(second + 16, small.heap.allocate(4096)));
        CHECK(kept(small).empty());
    }
    SECTION("a list without an end") {
        small.heap.put(second, first);
        CHECK(kept(small).empty());
    }
}
