// gperftools' tcmalloc: its tables in a library's data, spans and caches; and tables that lie.

#include "parsers/memory/tcmalloc.h"

#include "tests/catch.h"
#include "tests/memory/check_allocator.h"
#include "tests/memory/written_memory.h"

#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr Address data(0x7f3000000000);  // of the library
constexpr Address sizes = data + 0x1004, lists = data + 0x4000, root = data + 0x80000,
                  caches = data + 0x190000;
constexpr Address heap(0x10000000), descriptors(0x7f2000000000), leaf(0x7f2100000000), cache(0x7f2200000000);
constexpr std::uint64_t page = 8192, classes = 60;

std::uint32_t size_of(std::uint64_t size_class) {
    return size_class == classes - 1 ? 256 << 10 : static_cast<std::uint32_t>(16 * size_class);
}

/// A process with a span of each kind: two of class 4 (64 bytes), a large block, a free one.
struct Process {
    explicit Process(std::uint64_t stride_of_version) : stride(stride_of_version) {
        memory.map(data, 0x1a0000, 0);
        memory.map(heap, 64 * page);
        memory.map(descriptors, 4096);
        memory.map(leaf, 8 << 18);
        memory.map(cache, 8192);
        Module module;
        module.start = data;
        module.end = module.image_end = data + 0x1a0000;
        modules = {module};
        for (std::uint64_t i = 0; i < classes; ++i) memory.put(sizes + 4 * i, size_of(i));
        for (std::uint64_t i = 0; i < classes; ++i) {
            memory.put(list(i) + 8, i);
            for (const std::uint64_t ring : {16, 64}) {
                memory.put(list(i) + ring + 16, list(i) + ring);
                memory.put(list(i) + ring + 24, list(i) + ring);
            }
        }
        memory.put(root + 8 * (heap.value / page >> 18), leaf);
        // of 128 blocks each: 2 free in the first, 1 in the second
        for (const std::uint64_t number : {0, 1}) {
            span(number, number, 1, 4, 0);
            const Address at = descriptor(number), other = descriptor(1 - number), ring = list(4) + 64;
            memory.put(at + 40, static_cast<std::uint16_t>(number == 0 ? 126 : 127));
            memory.put(at + 16, number == 0 ? other : ring);
            memory.put(at + 24, number == 0 ? ring : other);
        }
        memory.put(list(4) + 64 + 16, descriptor(0));
        memory.put(list(4) + 64 + 24, descriptor(1));
        chain(descriptor(0) + 32, {block(5), block(3)});
        chain(descriptor(1) + 32, {block(128)});
        span(2, 2, 40, 0, 0);
        span(3, 42, 22, 0, 1);
        // a chain in a transfer slot
        chain(list(4) + 128, {block(7), block(8), block(9)});
        memory.put(list(4) + 128 + 64 * 16, std::uint32_t{1});
        // a thread's cache
        for (std::uint64_t i = 0; i < classes; ++i) memory.put(cache + 32 * i + 24, size_of(i));
        chain(cache + 32 * 4, {block(200), block(20)});
        memory.put(cache + 32 * 4 + 8, std::uint32_t{2});
        memory.put(caches, cache);
    }
    Address list(std::uint64_t size_class) const { return lists + stride * size_class; }
    static Address descriptor(std::uint64_t number) { return descriptors + 48 * number; }
    static Address block(std::uint64_t i) { return heap + 64 * i; }
    void span(std::uint64_t number, std::uint64_t first, std::uint64_t pages, std::uint8_t size_class,
              std::uint8_t location) {
        const std::uint64_t start = heap.value / page + first;
        memory.put(descriptor(number), start);
        memory.put(descriptor(number) + 8, pages);
        memory.put(descriptor(number) + 42, size_class);
        memory.put(descriptor(number) + 43, location);
        for (const std::uint64_t at : {start, start + pages - 1})
            memory.put(leaf + 8 * (at & 0x3ffff), descriptor(number));
    }
    void chain(Address head, const std::vector<Address>& blocks) {
        memory.put(head, blocks.front());
        for (std::size_t i = 0; i < blocks.size(); ++i)
            memory.put(blocks[i], i + 1 < blocks.size() ? blocks[i + 1] : Address());
    }
    std::unique_ptr<const Tcmalloc> found() {
        space = memory.space();
        return Tcmalloc::find(space, modules);
    }

    std::uint64_t stride;
    WrittenMemory memory;
    AddressSpace space;
    std::vector<Module> modules;
};

}  // namespace

TEST_CASE("tcmalloc: a block is free in its span, a transfer slot or a thread's cache, else in use",
          "[tcmalloc]") {
    Process process(GENERATE(1216, 1168));  // 2.10, 2.16
    const auto tcmalloc = process.found();
    REQUIRE(tcmalloc);
    CHECK(tcmalloc->damage().places == 0);
    CHECK(tcmalloc->thread_caches() == 1);
    const std::vector<AddressRange> ranges = tcmalloc->ranges();
    REQUIRE(ranges.size() == 1);
    CHECK(ranges[0].start == heap);
    CHECK(ranges[0].size() == 64 * page);
    for (const std::uint64_t i : {3, 5, 7, 8, 9, 20, 128, 200})
        CHECK_FALSE(tcmalloc->block_at(Process::block(i))->in_use);
    for (const std::uint64_t i : {0, 4, 6, 10, 127, 129, 255}) {
        const auto block = tcmalloc->block_at(Process::block(i) + 63);
        REQUIRE(block);
        CHECK(block->start == Process::block(i));
        CHECK(block->bytes == 64);
        CHECK(block->in_use);
    }
    const auto large = tcmalloc->block_at(heap + 30 * page);
    REQUIRE(large);
    CHECK(large->start == heap + 2 * page);
    CHECK(large->bytes == 40 * page);
    CHECK(large->in_use);
    CHECK_FALSE(tcmalloc->block_at(heap + 50 * page)->in_use);
    CHECK(blocks_in_use(*tcmalloc) == 256 - 8 + 1);
}

TEST_CASE("tcmalloc: without one of its tables it is not there", "[tcmalloc]") {
    Process process(1216);
    SECTION("sizes that do not rise") { process.memory.put(sizes + 4 * 20, 5U); }
    SECTION("sizes that end early") { process.memory.put(sizes + 4 * (classes - 1), 0U); }
    SECTION("a central list of another class") {
        process.memory.put(process.list(30) + 8, std::uint64_t{31});
    }
    SECTION("a ring that does not lead back") {
        process.memory.put(process.list(30) + 16 + 24, std::uint64_t{8});
    }
    SECTION("no map") { process.memory.put(root + 8 * (heap.value / page >> 18), std::uint64_t{0}); }
    SECTION("a map to elsewhere") {
        process.memory.put(leaf + 8 * (heap.value / page & 0x3ffff), descriptors + 8);
    }
    CHECK_FALSE(process.found());
}

TEST_CASE("tcmalloc: lists and counts that lie are damage, and end", "[tcmalloc]") {
    Process process(1216);
    std::uint64_t bytes = page;
    SECTION("a list into another span") { process.memory.put(Process::block(5), Process::block(130)); }
    SECTION("a list in a circle") { process.memory.put(Process::block(3), Process::block(5)); }
    SECTION("a list between blocks") { process.memory.put(Process::block(5), Process::block(3) + 8); }
    SECTION("fewer handed out") { process.memory.put(Process::descriptor(0) + 40, std::uint16_t{100}); }
    SECTION("a transfer slot's chain that leads nowhere") {
        process.memory.put(Process::block(8), std::uint64_t{12});
        bytes = 0;
    }
    SECTION("more transfer slots than there are") {
        process.memory.put(process.list(4) + 128 + 64 * 16, 65U);
        bytes = 0;
    }
    SECTION("a cache's list that is longer than it says") {
        process.memory.put(Process::block(20), Process::block(21));
        bytes = 0;
    }
    const auto tcmalloc = process.found();
    REQUIRE(tcmalloc);
    CHECK(tcmalloc->damage().places == 1);
    CHECK(tcmalloc->damage().bytes == bytes);
    CHECK(tcmalloc->block_at(Process::block(100))->in_use);
}

TEST_CASE("tcmalloc: a span of a class that cannot be is one block in use; one that lies is none",
          "[tcmalloc]") {
    Process process(1216);
    process.span(4, 64, 8, 90, 0);  // beyond the memory that there is
    process.memory.put(Process::descriptor(2) + 8, std::uint64_t{1} << 40);
    const auto tcmalloc = process.found();
    REQUIRE(tcmalloc);
    CHECK(tcmalloc->damage().places == 1);
    CHECK(tcmalloc->block_at(heap + 65 * page)->in_use);
    CHECK_FALSE(tcmalloc->block_at(heap + 10 * page));
}

TEST_CASE("tcmalloc: a map whose parts are one and the same ends", "[tcmalloc]") {
    Process process(1216);
    for (std::uint64_t i = 0; i < 1 << 17; ++i) process.memory.put(root + 8 * i, leaf);
    const auto tcmalloc = process.found();
    if (tcmalloc) CHECK(tcmalloc->block_at(Process::block(100))->bytes == 64);
}
