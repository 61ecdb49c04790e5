// mimalloc 3: a map in two levels, arenas and pages; and maps and headers that lie.

#include "parsers/memory/mimalloc3.h"

#include "tests/catch.h"
#include "tests/memory/check_allocator.h"
#include "tests/memory/written_memory.h"

#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr Address data(0x7f3000000000), map(0x7f2000000000), part(0x7f2100000000);
constexpr Address arena(0x7f1000000000), alone(0x7f1010000000);  // of the same 512 MiB
constexpr std::uint64_t slice = 64 << 10, map_bytes = 2 << 20, slices = 16;
constexpr std::uint32_t of_system = 4, of_arena = 7;

struct Process {
    explicit Process(std::uint64_t counts_at) {
        memory.map(data, 4096, 0);
        memory.map(map, map_bytes + 4096);
        memory.map(part, slice);
        memory.map(arena, slices * slice);
        memory.map(alone, 4 * slice);
        Module module;
        module.start = data;
        module.end = module.image_end = data + 4096;
        modules = {module};
        memory.put(data + 0x600, map);
        memory.put(map, map + map_bytes);
        memory.put(map + 8 * (arena.value >> 29), part);
        memory.put(arena + counts_at, slices);
        memory.put(arena + counts_at + 8, std::uint64_t{2});
        // the states of threads
        memory.put(arena + 3 * slice + 8, arena);
        memory.put(arena + 3 * slice + 8 + 8, std::uint32_t{3});
    }
    void enter(Address at, Address page_at) { memory.put(part + 8 * (at.value >> 16 & 0x1fff), page_at); }
    Address page(Address at, std::uint32_t count, std::uint64_t block_size, std::uint16_t capacity,
                 std::uint16_t used) {
        for (std::uint32_t i = 0; i < count; ++i) enter(at + i * slice, at);
        memory.put(at + 16, used);
        memory.put(at + 18, capacity);
        memory.put(at + 20, static_cast<std::uint16_t>((count * slice - 128) / block_size));
        memory.put(at + 32, std::uint64_t{1});
        memory.put(at + 40, block_size);
        memory.put(at + 48, at + 128);
        memory.put(at + 96, arena);
        memory.put(at + 104, static_cast<std::uint32_t>((at - arena) / slice));
        memory.put(at + 108, count);
        memory.put(at + 112, of_arena);
        return at + 128;
    }
    void list(Address head, const std::vector<Address>& blocks, std::uint64_t flags = 0) {
        for (std::size_t i = 0; i < blocks.size(); ++i)
            memory.put(blocks[i], i + 1 < blocks.size() ? blocks[i + 1] : Address());
        memory.put(head, blocks.front().value | flags);
    }
    /// 10 blocks of 64 bytes, of which 5 are in use.
    Address small_page() {
        const Address at = arena + 4 * slice, blocks = page(at, 1, 64, 10, 6);
        list(at + 8, {blocks + 2 * 64, blocks + 64});
        list(at + 24, {blocks + 9 * 64, blocks});
        list(at + 32, {blocks + 3 * 64}, 1);
        return blocks;
    }
    std::unique_ptr<const Mimalloc3> found() {
        space = memory.space();
        return Mimalloc3::find(space, modules);
    }

    WrittenMemory memory;
    AddressSpace space;
    std::vector<Module> modules;
};

}  // namespace

TEST_CASE("mimalloc 3: a block is free in its page's three lists, else in use", "[mimalloc]") {
    Process process(GENERATE(32, 40));
    const Address blocks = process.small_page();
    process.memory.put(data + 8, part);  // leads to something else
    const auto mimalloc = process.found();
    REQUIRE(mimalloc);
    CHECK(mimalloc->damage().places == 0);
    const std::vector<AddressRange> ranges = mimalloc->ranges();
    REQUIRE(ranges.size() == 1);
    CHECK(ranges[0].start == arena);
    CHECK(ranges[0].size() == slices * slice);
    for (const std::uint64_t i : {4, 5, 6, 7, 8}) {
        const auto block = mimalloc->block_at(blocks + 64 * i + 63);
        REQUIRE(block);
        CHECK(block->start == blocks + 64 * i);
        CHECK(block->in_use);
    }
    for (const std::uint64_t i : {0, 1, 2, 3, 9}) CHECK_FALSE(mimalloc->block_at(blocks + 64 * i)->in_use);
    CHECK_FALSE(mimalloc->block_at(blocks + 640)->in_use);       // never cut into blocks
    CHECK_FALSE(mimalloc->block_at(arena + 6 * slice)->in_use);  // in no page
    CHECK_FALSE(mimalloc->block_at(arena + 3 * slice + 4096));   // mimalloc's own
    CHECK_FALSE(mimalloc->block_at(arena + 1 * slice));          // the arena's header
    CHECK_FALSE(mimalloc->block_at(arena + 4 * slice));          // the page's
    CHECK(blocks_in_use(*mimalloc) == 5);
}

TEST_CASE("mimalloc 3: a large request has memory of its own", "[mimalloc]") {
    Process process(32);
    process.small_page();
    process.page(alone, 4, 3 * slice, 1, 1);
    process.memory.put(alone + 96, alone);
    process.memory.put(alone + 104, 4 * slice);
    process.memory.put(alone + 112, of_system);
    const auto mimalloc = process.found();
    REQUIRE(mimalloc);
    CHECK(mimalloc->ranges().size() == 2);
    CHECK(mimalloc->block_at(alone + 2 * slice)->bytes == 3 * slice);
    CHECK(mimalloc->block_at(alone + 2 * slice)->in_use);
}

TEST_CASE("mimalloc 3: a page that is no more, in the slices of another, does not count", "[mimalloc]") {
    Process process(32);
    process.small_page();
    process.page(arena + 7 * slice, 1, 64, 10, 10);
    const Address blocks = process.page(arena + 6 * slice, 3, 4096, 2, 2);
    process.enter(arena + 7 * slice, arena + 7 * slice);
    const auto mimalloc = process.found();
    REQUIRE(mimalloc);
    CHECK(mimalloc->damage().places == 0);
    CHECK(mimalloc->block_at(blocks + 4096)->in_use);
    CHECK_FALSE(mimalloc->block_at(arena + 7 * slice + 128)->in_use);
}

TEST_CASE("mimalloc 3: lists and counts that lie are damage, and end", "[mimalloc]") {
    Process process(32);
    const Address blocks = process.small_page();
    process.page(arena + 8 * slice, 1, 64, 1, 1);
    SECTION("out of the page") { process.memory.put(blocks + 64, arena + 8 * slice + 128); }
    SECTION("in a circle") { process.memory.put(blocks + 64, blocks + 128); }
    SECTION("between blocks") { process.memory.put(blocks + 64, blocks + 8); }
    SECTION("more in use") { process.memory.put(arena + 4 * slice + 16, std::uint16_t{7}); }
    const auto mimalloc = process.found();
    REQUIRE(mimalloc);
    CHECK(mimalloc->damage().places == 1);
    CHECK(mimalloc->damage().bytes == slice);
    CHECK(mimalloc->block_at(blocks + 5 * 64)->in_use);
}

TEST_CASE("mimalloc 3: without a page that is proved it is not there", "[mimalloc]") {
    Process process(32);
    process.small_page();
    const Address at = arena + 4 * slice;
    SECTION("no way to the map") { process.memory.put(data + 0x600, std::uint64_t{0}); }
    SECTION("a map of another form") { process.memory.put(map, map + map_bytes + 8); }
    SECTION("a page that lies elsewhere") { process.memory.put(at + 104, std::uint32_t{5}); }
    SECTION("memory of no kind") { process.memory.put(at + 112, std::uint32_t{3}); }
    SECTION("blocks beyond the page") { process.memory.put(at + 40, 2 * slice); }
    SECTION("more blocks than fit") { process.memory.put(at + 20, std::uint16_t{2000}); }
    SECTION("slices that are not there") { process.memory.put(at + 108, ~std::uint32_t{0}); }
    CHECK_FALSE(process.found());
}

TEST_CASE("mimalloc 3: a map whose parts are one and the same ends", "[mimalloc]") {
    Process process(32);
    process.small_page();
    for (std::uint64_t i = 1; i < map_bytes / 8; ++i) process.memory.put(map + 8 * i, part);
    const auto mimalloc = process.found();
    if (mimalloc) CHECK(mimalloc->ranges().size() == 1);
}
