// Arenas and caches as glibc leaves them, in each of their shapes; and what only looks like them.

#include "parsers/memory/malloc_state.h"

#include "tests/catch.h"
#include "tests/memory/segment_of.h"

#include <cstring>
#include <vector>

using namespace heapsift;

namespace {

constexpr std::uint64_t page = 4096, system_bytes = 4 * page;
constexpr Address data_start(0x7ffff7dd0000), heap_start(0x555555560000), tls_start(0x7ffff7d80000);
constexpr Address arena_start(0x7fffe0000000);

/// Memory that a test writes into.
struct Stretch {
    Stretch(Address at, std::uint64_t size, std::int32_t of_module = -1)
        : start(at), bytes(size), module(of_module) {}

    void word(Address at, std::uint64_t value) { std::memcpy(bytes.data() + (at - start), &value, 8); }
    template <class Number>
    void number(Address at, Number value) {
        std::memcpy(bytes.data() + (at - start), &value, sizeof value);
    }
    Segment segment() const { return test::segment_of(start, bytes, module); }

    Address start;
    std::vector<std::byte> bytes;
    std::int32_t module;
};

/// A process: libc's data with the main arena, a heap whose top is its second page and all behind, and a thread.
struct Process {
    explicit Process(std::uint64_t at) : bins_at(at) {
        write_arena(data, main, main, top);
        heap.word(top + 8, (heap_start + system_bytes - top) | 1);
        heap.word(heap_start + 8, 0x291);
        thread.registers[21] = (tls_start + page - 64).value;
    }

    void write_arena(Stretch& where, Address state, Address next_state, Address top_chunk) const {
        const Address bins = state + bins_at;
        where.word(bins - 0x10, top_chunk.value);
        for (Address pair = bins; pair < bins + 127 * 0x10; pair = pair + 0x10) {
            where.word(pair, (pair - 0x10).value);
            where.word(pair + 8, (pair - 0x10).value);
        }
        where.word(bins + 0x800, next_state.value);
        where.word(bins + 0x818, system_bytes);
    }
    /// A block of malloc's in the heap's first page: its chunk has `size`.
    Address block(std::uint64_t size) {
        const Address at = next;
        heap.word(at - 8, size | 1);
        next = next + size;
        return at;
    }
    MallocState found() const {
        const AddressSpace memory({data.segment(), heap.segment(), tls.segment(), arena.segment()});
        return find_malloc_state(memory, {&thread, 1});
    }

    std::uint64_t bins_at;
    Stretch data{data_start, 2 * page, 0}, heap{heap_start, system_bytes}, tls{tls_start, page};
    Stretch arena{arena_start, 2 * page};
    Address main = data_start + 0xc60, top = heap_start + page, next = heap_start + 16;
    CoreThread thread;
};

}  // namespace

TEST_CASE("malloc's state: the main arena is found by its bins, whatever lies before them", "[malloc]") {
    Process process(GENERATE(0x68, 0x70, 0x18));
    const MallocState state = process.found();
    REQUIRE(state.arenas.size() == 1);
    CHECK(state.arenas[0].state == process.main);
    CHECK(state.arenas[0].top == process.top);
    CHECK(state.arenas[0].system_bytes == system_bytes);
    CHECK(state.broken_lists == 0);
}

TEST_CASE("malloc's state: bins in use, and even a first pair that does not read", "[malloc]") {
    Process process(0x70);
    const Address bins = process.main + 0x70;
    const Address chunk = process.block(0x100) - 16;  // in the second bin
    const Address head = bins + 0x10 - 0x10;
    process.data.word(bins + 0x10, chunk.value);
    process.data.word(bins + 0x18, chunk.value);
    process.heap.word(chunk + 0x10, head.value);
    process.heap.word(chunk + 0x18, head.value);
    CHECK(process.found().arenas.size() == 1);
    process.data.word(bins, 0x1234);
    CHECK(process.found().arenas.size() == 1);
}

TEST_CASE("malloc's state: arenas are a ring, and one that does not close is none", "[malloc]") {
    Process process(0x70);
    const Address second = arena_start + 0x30, top = arena_start + page;
    process.write_arena(process.arena, second, process.main, top);
    process.arena.word(top + 8, page | 1);
    process.data.word(process.main + 0x70 + 0x800, second.value);
    const MallocState state = process.found();
    REQUIRE(state.arenas.size() == 2);
    CHECK(state.arenas[1].state == second);
    process.arena.word(second + 0x70 + 0x800, 0);
    CHECK(process.found().arenas.empty());
    process.arena.word(second + 0x70 + 0x800, second.value);  // a ring without the main arena
    CHECK(process.found().arenas.empty());
}

TEST_CASE("malloc's state: a top that ends on no page belongs to no arena", "[malloc]") {
    Process process(0x70);
    process.heap.word(process.top + 8, 0x1011);
    CHECK(process.found().arenas.empty());
}

TEST_CASE("malloc's state: links of a fast bin, mixed with their places or not", "[malloc]") {
    const bool mixed = GENERATE(false, true);
    Process process(0x70);
    const Address first = process.block(0x40), second = process.block(0x40);
    const auto link = [&](Address at, std::uint64_t to) { return mixed ? to ^ (at.value >> 12) : to; };
    const Address fast_bins = process.main + 0x10;
    process.data.word(fast_bins + 8 * 2, (first - 16).value);  // of chunks of 0x40
    process.heap.word(first, link(first, (second - 16).value));
    process.heap.word(second, link(second, 0));
    const MallocState state = process.found();
    CHECK(state.in_fast_bins == std::vector<Address>{first, second});
    CHECK(state.broken_lists == 0);
    REQUIRE(state.arenas.size() == 1);
    CHECK(state.arenas[0].fast_blocks == 2);
    CHECK(state.arenas[0].fast_bytes == 0x80);

    process.heap.word(second, link(second, (first - 16).value));  // a ring
    CHECK(process.found().broken_lists == 1);
    process.heap.word(second - 8, 0x51);  // of another size
    CHECK(process.found().in_fast_bins == std::vector<Address>{first});
}

TEST_CASE("malloc's state: a thread's cache in each of its shapes", "[malloc]") {
    struct Shape {
        std::uint64_t chunk, sizes, width;
        bool counts_left;
    };
    const Shape shape =
        GENERATE(Shape{0x250, 64, 1, false}, Shape{0x290, 64, 2, false}, Shape{0x300, 76, 2, true});
    Process process(0x70);
    const Address cache = process.block(shape.chunk), first = process.block(0x30),
                  second = process.block(0x30);
    const auto count = [&](std::uint64_t size, unsigned blocks) {
        const unsigned said = shape.counts_left ? 7 - blocks : blocks;
        if (shape.width == 1)
            process.heap.number(cache + size, static_cast<std::uint8_t>(said));
        else
            process.heap.number(cache + 2 * size, static_cast<std::uint16_t>(said));
    };
    for (std::uint64_t size = 0; size < shape.sizes; ++size) count(size, 0);
    count(1, 2);
    process.heap.word(cache + shape.sizes * shape.width + 8, first.value);
    process.heap.word(first, second.value ^ (first.value >> 12));
    process.heap.word(second, second.value >> 12);
    CHECK(process.found().caches == 0);  // nothing leads to it

    const Address below_fs = tls_start + page - 64 - 72;
    process.tls.word(below_fs, cache.value);
    MallocState state = process.found();
    CHECK(state.caches == 1);
    CHECK(state.all_caches);
    CHECK(state.cached == std::vector<Address>{first, second});
    CHECK(state.broken_lists == 0);

    SECTION("a list that is longer than was said") {
        count(1, 1);
        state = process.found();
        CHECK(state.cached == std::vector<Address>{first});
        CHECK(state.broken_lists == 1);
    }
    SECTION("a list that is shorter") {
        count(1, 3);
        CHECK(process.found().broken_lists == 1);
    }
    SECTION("a count without a list: no cache") {
        count(5, 1);
        CHECK(process.found().caches == 0);
    }
}

TEST_CASE("malloc's state: how many blocks have mappings of their own", "[malloc]") {
    Process process(0x70);
    CHECK_FALSE(process.found().mapped);
    const Address counts = data_start + 0x1f00;
    process.data.number(counts, std::uint32_t{3});
    process.data.number(counts + 4, std::uint32_t{65536});
    process.data.number(counts + 8, std::uint32_t{5});
    process.data.word(counts + 16, 3 * page);
    process.data.word(counts + 24, 9 * page);
    process.data.word(counts + 32, heap_start.value);
    const auto mapped = process.found().mapped;
    REQUIRE(mapped);
    CHECK(mapped->blocks == 3);
    CHECK(mapped->bytes == 3 * page);
    process.data.word(counts + 16, 10 * page);  // more than there ever was
    CHECK_FALSE(process.found().mapped);
}
