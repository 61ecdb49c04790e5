// Pools as pymalloc leaves them: full, partly used, with a free list, torn; and the table of arenas, which
// distinguishes live pools from what a released arena left in memory.

#include "parsers/cpython/pymalloc.h"

#include "tests/catch.h"
#include "tests/cpython/python_heap_builder.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t header_size = 48;
constexpr Address arena_start(0x7e0000000000);

/// Pools of 4 KiB in arenas of 256 KiB up to 3.9, of 16 KiB in 1 MiB since 3.10.
struct PoolSpace {
    explicit PoolSpace(const Layout& layout)
        : heap(layout), pool_size(layout.version.minor >= 10 ? 16384 : 4096) {
        arena_size = pool_size * 64;
        heap.map(arena_start, 2 * arena_size);
    }

    Address pool(std::uint64_t index) const { return arena_start + index * pool_size; }
    Address block(std::uint64_t pool_index, std::uint32_t size, std::uint64_t n) const {
        return pool(pool_index) + header_size + n * size;
    }

    /// A pool with blocks of `size` bytes, of which `carved` were handed out; those in `free` were given
    /// back, last first.
    void fill(std::uint64_t index, std::uint32_t size, std::uint32_t carved,
              const std::vector<std::uint32_t>& free, std::uint32_t arena = 0) {
        const auto& l = heap.layout().pool_header;
        const Address at = pool(index);
        heap.set(at, l.ref_count, static_cast<std::uint32_t>(carved - free.size()));
        heap.set(at, l.arenaindex, arena);
        heap.set(at, l.szidx, size / 16 - 1);
        heap.set(at, l.nextoffset, static_cast<std::uint32_t>(header_size + carved * size));
        heap.set(at, l.maxnextoffset, static_cast<std::uint32_t>(pool_size - size));
        Address next;
        for (const std::uint32_t n : free) {
            heap.put(block(index, size, n), next);
            next = block(index, size, n);
        }
        heap.set(at, l.freeblock, next);
    }

    /// struct arena_object [count], to which a word of the module's data points.
    void arenas(const std::vector<Address>& addresses) {
        const auto& l = heap.layout().arena_object;
        const Address table = heap.allocate(addresses.size() * *l.size);
        for (std::size_t i = 0; i < addresses.size(); ++i)
            heap.put(table + i * *l.size + *l.address, addresses[i]);
        heap.put(heap.allocate_static(8), table);
    }

    Pymalloc find(const std::vector<CoreThread>& threads = {}) {
        return Pymalloc::find(heap.heap(), diagnostics, threads);
    }

    PythonHeapBuilder heap;
    std::uint64_t pool_size;
    std::uint64_t arena_size = 0;
    Diagnostics diagnostics;
};

}  // namespace

TEST_CASE("pymalloc: blocks in use and blocks that were given back", "[cpython][pymalloc]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    PoolSpace space(*layout);
    space.fill(3, 64, 10, {4, 7, 0});
    const Pymalloc pymalloc = space.find();
    REQUIRE(pymalloc.pools().size() == 1);
    CHECK(pymalloc.pool_size() == space.pool_size);
    CHECK(pymalloc.header_size() == header_size);
    const Pool& pool = pymalloc.pools()[0];
    CHECK(pool.start == space.pool(3));
    CHECK(pool.block_size == 64);
    CHECK(pool.carved == 10);
    CHECK(pool.allocated == 7);
    CHECK(pymalloc.bytes_allocated() == 7 * 64);
    CHECK(pymalloc.bytes_in_pools() == space.pool_size);
    std::vector<std::uint8_t> free;
    pymalloc.free_blocks(pool, free);
    REQUIRE(free.size() == 10);
    for (std::uint32_t n = 0; n < 10; ++n) {
        const bool given_back = n == 4 || n == 7 || n == 0;
        CHECK(free[n] == given_back);
        const auto block = pymalloc.block_at(space.block(3, 64, n) + 63);
        REQUIRE(block);
        CHECK(block->start == space.block(3, 64, n));
        CHECK(block->bytes == 64);
        CHECK(block->in_use == !given_back);
    }
}

TEST_CASE("pymalloc: outside of carved blocks there is none", "[cpython][pymalloc]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    PoolSpace space(*layout);
    space.fill(3, 64, 10, {});
    const Pymalloc pymalloc = space.find();
    CHECK_FALSE(pymalloc.block_at(space.pool(3)));  // the pool's own header
    CHECK_FALSE(pymalloc.block_at(space.pool(3) + 47));
    CHECK(pymalloc.block_at(space.pool(3) + 48));
    CHECK_FALSE(pymalloc.block_at(space.block(3, 64, 10)));  // never handed out
    CHECK_FALSE(pymalloc.pool_at(space.pool(4)));
    CHECK_FALSE(pymalloc.pool_at(space.pool(3) - 1));
    CHECK(pymalloc.pool_at(space.pool(4) - 1) == &pymalloc.pools()[0]);
    CHECK_FALSE(pymalloc.block_at(Address(0)));
    CHECK_FALSE(pymalloc.block_at(Address(~std::uint64_t{0})));
}

TEST_CASE("pymalloc: a full pool, whose blocks need not fill it to the end", "[cpython][pymalloc]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    PoolSpace space(*layout);
    const auto most = static_cast<std::uint32_t>((space.pool_size - header_size) / 112);
    space.fill(0, 112, most, {});
    space.fill(1, 16, 1, {});
    space.fill(2, 512, 2, {1});
    const Pymalloc pymalloc = space.find();
    REQUIRE(pymalloc.pools().size() == 3);
    CHECK(pymalloc.pools()[0].allocated == most);
    CHECK(pymalloc.pools()[1].block_size == 16);
    CHECK(pymalloc.pools()[2].allocated == 1);
    CHECK(pymalloc.damaged_pools() == 0);
}

TEST_CASE("pymalloc: a free list that does not add up leaves the pool out, and is counted",
          "[cpython][pymalloc][damaged]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    PoolSpace space(*layout);
    const auto& l = layout->pool_header;
    space.fill(0, 32, 4, {});
    space.fill(1, 64, 10, {2, 5});
    SECTION("a link off the grid") { space.heap.put(space.block(1, 64, 5), space.block(1, 64, 2) + 8); }
    SECTION("a link into another pool") { space.heap.put(space.block(1, 64, 5), space.block(0, 32, 0)); }
    SECTION("a link to what was never handed out") {
        space.heap.put(space.block(1, 64, 5), space.block(1, 64, 12));
    }
    SECTION("a ring") { space.heap.put(space.block(1, 64, 2), space.block(1, 64, 5)); }
    SECTION("a list that is too short") { space.heap.put(space.block(1, 64, 5), Address()); }
    SECTION("a count that is too small") { space.heap.set(space.pool(1), l.ref_count, std::uint32_t{3}); }
    const Pymalloc pymalloc = space.find();
    REQUIRE(pymalloc.pools().size() == 1);
    CHECK(pymalloc.pools()[0].start == space.pool(0));
    CHECK(pymalloc.damaged_pools() == 1);
}

TEST_CASE("pymalloc: one block off is no damage where a thread stopped, and damage elsewhere",
          "[cpython][pymalloc][damaged]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    PoolSpace space(*layout);
    const auto& l = layout->pool_header;
    space.fill(0, 32, 4, {});
    space.fill(1, 64, 10, {2, 5});
    const int off_by = GENERATE(-2, -1, 1, 2);
    space.heap.set(space.pool(1), l.ref_count, std::uint32_t(8 + off_by));
    CoreThread elsewhere, there;
    elsewhere.registers[10] = space.block(0, 32, 1).value;
    there.registers[13] = space.block(1, 64, 9).value;
    const bool is_stopped_there = GENERATE(true, false);
    const Pymalloc pymalloc = space.find({elsewhere, is_stopped_there ? there : elsewhere});
    const bool is_sound = is_stopped_there && std::abs(off_by) == 1;
    CHECK(pymalloc.pools().size() == (is_sound ? 2 : 1));
    CHECK(pymalloc.damaged_pools() == (is_sound ? 0 : 1));
}

TEST_CASE("pymalloc: what does not read as a pool's header is none, and nobody is told",
          "[cpython][pymalloc]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    PoolSpace space(*layout);
    const auto& l = layout->pool_header;
    space.fill(0, 32, 4, {});
    space.fill(1, 64, 10, {});
    const Address at = space.pool(1);
    SECTION("no block in use") { space.heap.set(at, l.ref_count, std::uint32_t{0}); }
    SECTION("more in use than handed out") { space.heap.set(at, l.ref_count, std::uint32_t{11}); }
    SECTION("a size class that does not exist") { space.heap.set(at, l.szidx, std::uint32_t{32}); }
    SECTION("a size class that does not fit the last offset") {
        space.heap.set(at, l.szidx, std::uint32_t{4});
    }
    SECTION("a next offset between blocks") { space.heap.set(at, l.nextoffset, std::uint32_t{48 + 65}); }
    SECTION("a next offset behind the pool") { space.heap.set(at, l.nextoffset, std::uint32_t{1 << 20}); }
    const Pymalloc pymalloc = space.find();
    CHECK(pymalloc.pools().size() == 1);
    CHECK(pymalloc.damaged_pools() == 0);
}

TEST_CASE("pymalloc: the table of arenas is found, and drops a pool that it does not confirm",
          "[cpython][pymalloc]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    PoolSpace space(*layout);
    // Arena 0 is live; arena 1 was given back, but its pool is still in memory.
    for (std::uint64_t i = 0; i < 8; ++i) space.fill(i, 64, 5, {}, 0);
    space.fill(70, 64, 5, {}, 1);
    space.arenas({arena_start, Address()});
    const Pymalloc pymalloc = space.find();
    CHECK(pymalloc.arenas_proved());
    CHECK(pymalloc.pools().size() == 8);
    CHECK_FALSE(pymalloc.pool_at(space.pool(70)));
    REQUIRE(pymalloc.arenas().size() == 1);
    CHECK(pymalloc.arenas()[0].start == arena_start);
    CHECK(pymalloc.arenas()[0].size() == space.arena_size);
}

TEST_CASE("pymalloc: without a table pools are known by their shape, and that is said",
          "[cpython][pymalloc]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    PoolSpace space(*layout);
    space.fill(0, 64, 5, {});
    const Pymalloc pymalloc = space.find();
    CHECK(pymalloc.pools().size() == 1);
    CHECK_FALSE(pymalloc.arenas_proved());
    CHECK(pymalloc.arenas().empty());
    REQUIRE(space.diagnostics.all().size() == 1);
    CHECK(space.diagnostics.all()[0].code == "arenas-not-found");
}

TEST_CASE("pymalloc: none at all is not an error", "[cpython][pymalloc]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    PoolSpace space(*layout);
    const Pymalloc pymalloc = space.find();
    CHECK(pymalloc.pools().empty());
    CHECK_FALSE(pymalloc.pool_at(arena_start));
    CHECK_FALSE(pymalloc.block_at(arena_start));
    CHECK(pymalloc.bytes_allocated() == 0);
    CHECK(space.diagnostics.all().empty());
}

TEST_CASE("pymalloc: since 3.12 the interpreter itself says where its arenas are", "[cpython][pymalloc]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    if (!layout->interpreter_state.obmalloc.present()) return;
    PoolSpace space(*layout);
    const auto& l = layout->arena_object;
    for (std::uint64_t i = 0; i < 4; ++i) space.fill(i, 64, 5, {}, 0);
    space.fill(70, 64, 5, {}, 1);
    const Address table = space.heap.allocate(2 * *l.size);
    space.heap.put(table + *l.address, arena_start);
    space.heap.set(table, l.pool_address, arena_start + space.arena_size);
    space.heap.set(table, l.ntotalpools, std::uint32_t{64});
    space.heap.set(table, l.nfreepools, std::uint32_t{60});
    const Address interpreter = space.heap.allocate(*layout->interpreter_state.size);
    Address state = interpreter + *layout->interpreter_state.obmalloc;
    if (layout->version.minor >= 13) {
        const Address own = space.heap.allocate(*layout->obmalloc_state.size);
        space.heap.put(state, own);
        state = own;
    } else {
        // The state begins with the first pool of the smallest blocks, and the words after it read as a table
        // too.
        space.fill(3, 16, 400, {}, 0);
        const Address pool = space.pool(3);
        const Address no_table = pool + *layout->obmalloc_state.arenas + 64;
        space.heap.put(state, pool);
        space.heap.set(pool, layout->obmalloc_state.arenas, no_table);
        space.heap.set(pool, layout->obmalloc_state.maxarenas, std::uint32_t{1});
        space.heap.set(no_table, l.address, pool - space.pool_size + 80);
    }
    space.heap.set(state, layout->obmalloc_state.arenas, table);
    space.heap.set(state, layout->obmalloc_state.maxarenas, std::uint32_t{2});
    PythonInterpreter python_interpreter;
    python_interpreter.address = interpreter;
    space.heap.runtime().interpreters.push_back(python_interpreter);
    const Pymalloc pymalloc = space.find();
    CHECK(pymalloc.found_by() == "the interpreter's table of arenas");
    CHECK(pymalloc.pools().size() == 4);
    CHECK(pymalloc.arenas().size() == 1);
}

TEST_CASE("pymalloc: as an allocator, its blocks make up its arenas but for headers",
          "[cpython][pymalloc][allocator]") {
    const Layout* layout = GENERATE(from_range(all_layouts()));
    if (layout->version.minor > 11) return;  // there the table of arenas is found by the interpreter
    PoolSpace space(*layout);
    space.fill(1, 64, 10, {4, 7, 0});
    space.fill(2, 512, 3, {});
    space.arenas({arena_start});
    const Pymalloc pymalloc = space.find();
    REQUIRE(pymalloc.arenas_proved());
    const Allocator& allocator = pymalloc;
    REQUIRE(allocator.ranges().size() == 1);
    CHECK(allocator.ranges()[0].size() == space.arena_size);
    std::uint64_t in_use = 0, free = 0;
    Address last = arena_start;
    allocator.visit_blocks([&](std::span<const MemoryBlock> blocks) {
        for (const MemoryBlock& block : blocks) {
            REQUIRE(block.start >= last);
            last = block.range().end;
            (block.in_use ? in_use : free) += block.bytes;
        }
    });
    CHECK(in_use == 7 * 64 + 3 * 512);
    // The rest after the last carved block is one free block, as is an unused pool.
    CHECK(in_use + free == space.arena_size - 2 * header_size);
}
