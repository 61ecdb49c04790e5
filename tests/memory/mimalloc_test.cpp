// Segments of mimalloc 2 as its headers lay them out, and headers that lie.

#include "parsers/memory/mimalloc.h"

#include "tests/catch.h"
#include "tests/memory/check_allocator.h"
#include "tests/memory/written_memory.h"

#include <algorithm>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr Address segment_at(0x7f1000000000 & ~std::uint64_t{(32 << 20) - 1});
constexpr std::uint64_t slice = 64 << 10, secret = 0x5bd1e9955bd1e995;
constexpr Address heap_at(0x7e0000000000);

/// offsetof and sizeof in four versions.
struct Fields {
    std::uint64_t used, cookie, segment_slices, info_slices, kind, slice_entries, slices, page, used_blocks,
        local_free, block_size, page_start, thread_free, heap, delayed;
    bool wide;  // block_size has 64 bits, used_blocks 16
};
constexpr Fields versions[] = {
    {208, 216, 224, 232, 240, 248, 264, 80, 24, 32, 28, 0, 40, 48, 2840, false},  // 2.0.9
    {208, 216, 224, 232, 240, 248, 264, 96, 32, 24, 40, 48, 56, 64, 8, true},     // 2.1.7
    {216, 224, 248, 256, 264, 272, 288, 96, 32, 24, 40, 48, 56, 64, 8, true},     // 2.2.4
    {208, 216, 224, 232, 240, 248, 264, 96, 24, 32, 28, 0, 40, 48, 2840,
     false}};  // 2.1.2 of free-threaded CPython

struct Process {
    explicit Process(const Fields& layout, std::uint64_t mapped_slices = 16) : f(layout) {
        memory.map(segment_at, mapped_slices * slice);
        memory.map(heap_at, 4096);
        segment(segment_at, 512, 0);
        span(1, 511, 0);
    }
    void segment(Address at, std::uint64_t slices, std::uint32_t kind) {
        start = at;
        memory.put(at + f.cookie, at.value ^ secret);
        memory.put(at + f.segment_slices, slices);
        memory.put(at + f.info_slices, std::uint64_t{1});
        memory.put(at + f.kind, kind);
        memory.put(at + f.slice_entries, std::min<std::uint64_t>(slices, 512));
        span(0, 1, 1);
    }
    Address page_header(std::uint64_t index) const { return start + f.slices + index * f.page; }
    void span(std::uint64_t index, std::uint32_t slices, std::uint64_t block_size) {
        memory.put(page_header(index), slices);
        put_size(index, block_size);
    }
    void put_size(std::uint64_t index, std::uint64_t block_size) {
        if (f.wide)
            memory.put(page_header(index) + f.block_size, block_size);
        else
            memory.put(page_header(index) + f.block_size, static_cast<std::uint32_t>(block_size));
    }
    void put_used(std::uint64_t index, std::uint32_t used) {
        if (f.wide)
            memory.put(page_header(index) + f.used_blocks, static_cast<std::uint16_t>(used));
        else
            memory.put(page_header(index) + f.used_blocks, used);
    }
    /// Returns where its blocks begin.
    Address page(std::uint64_t index, std::uint32_t slices, std::uint64_t block_size, std::uint16_t capacity,
                 std::uint32_t used) {
        span(index, slices, block_size);
        const std::uint64_t lead = block_size <= 1024 ? 384 : 0;
        const Address blocks = start + index * slice + lead;
        memory.put(page_header(index) + 10, capacity);
        memory.put(page_header(index) + 12, static_cast<std::uint16_t>((slices * slice - lead) / block_size));
        put_used(index, used);
        if (f.page_start != 0) memory.put(page_header(index) + f.page_start, blocks);
        memory.put(page_header(index) + f.heap, heap_at);
        memory.put(segment_at + f.used, memory.get<std::uint64_t>(segment_at + f.used) + 1);
        return blocks;
    }
    void list(Address head, const std::vector<Address>& blocks, std::uint64_t flags = 0) {
        for (std::size_t i = 0; i < blocks.size(); ++i)
            memory.put(blocks[i], i + 1 < blocks.size() ? blocks[i + 1] : Address());
        memory.put(head, (blocks.empty() ? 0 : blocks.front().value) | flags);
    }
    /// A page of 1 slice with 10 blocks of 64 bytes of which 4 are in use, and what follows it.
    Address small_page() {
        const Address blocks = page(1, 1, 64, 10, 6);
        list(page_header(1) + 16, {blocks + 2 * 64, blocks + 64});
        list(page_header(1) + f.local_free, {blocks + 9 * 64, blocks});
        list(page_header(1) + f.thread_free, {blocks + 3 * 64}, 2);
        list(heap_at + f.delayed, {blocks + 4 * 64});
        span(2, 510, 0);
        return blocks;
    }
    std::unique_ptr<const Mimalloc> found() {
        space = memory.space();
        return Mimalloc::find(space);
    }

    Fields f;
    WrittenMemory memory;
    AddressSpace space;
    Address start;
};

}  // namespace

TEST_CASE("mimalloc 2: a block is free in its page's three lists and in its heap's, else in use",
          "[mimalloc]") {
    Process process(versions[GENERATE(0, 1, 2, 3)]);
    const Address blocks = process.small_page();
    const auto mimalloc = process.found();
    REQUIRE(mimalloc);
    CHECK(mimalloc->damage().places == 0);
    const std::vector<AddressRange> ranges = mimalloc->ranges();
    REQUIRE(ranges.size() == 1);
    CHECK(ranges[0].start == segment_at);
    CHECK(ranges[0].size() == 32 << 20);
    for (const std::uint64_t i : {5, 6, 7, 8}) {
        const auto block = mimalloc->block_at(blocks + 64 * i + 63);
        REQUIRE(block);
        CHECK(block->start == blocks + 64 * i);
        CHECK(block->bytes == 64);
        CHECK(block->in_use);
    }
    for (const std::uint64_t i : {0, 1, 2, 3, 4, 9}) CHECK_FALSE(mimalloc->block_at(blocks + 64 * i)->in_use);
    CHECK_FALSE(mimalloc->block_at(blocks + 640)->in_use);            // never cut into blocks
    CHECK_FALSE(mimalloc->block_at(segment_at + 2 * slice)->in_use);  // slices without a page
    CHECK_FALSE(mimalloc->block_at(segment_at + 8));                  // the header
    CHECK(blocks_in_use(*mimalloc) == 4);
}

TEST_CASE("mimalloc 2.1.0 begins a page elsewhere than 2.0.9, and the lists tell", "[mimalloc]") {
    Process process(versions[0]);
    process.page(1, 1, 48, 1, 0);
    process.memory.put(process.page_header(1) + 12, static_cast<std::uint16_t>((slice - 3 * 48) / 48));
    process.list(process.page_header(1) + 16, {segment_at + slice + 3 * 48});
    process.span(2, 510, 0);
    const auto mimalloc = process.found();
    REQUIRE(mimalloc);
    CHECK(mimalloc->damage().places == 0);
    CHECK(mimalloc->block_at(segment_at + slice + 3 * 48)->start == segment_at + slice + 3 * 48);
}

TEST_CASE("mimalloc 2: a large request has a segment to itself", "[mimalloc]") {
    const Fields& version = versions[GENERATE(0, 2)];
    Process process(version);
    const Address huge = segment_at + (64 << 20);
    process.small_page();
    process.memory.map(huge, 20 * slice);
    process.segment(huge, 20, 1);
    const std::uint64_t bytes = 19 * slice;
    process.span(1, 19, version.wide ? bytes : 0x80000000);
    process.memory.put(process.page_header(1) + 10, std::uint16_t{1});
    process.memory.put(process.page_header(1) + 12, std::uint16_t{1});
    process.put_used(1, 1);
    if (version.page_start != 0)
        process.memory.put(process.page_header(1) + version.page_start, huge + slice);
    process.memory.put(huge + version.used, std::uint64_t{1});
    const auto mimalloc = process.found();
    REQUIRE(mimalloc);
    CHECK(mimalloc->damage().places == 0);
    REQUIRE(mimalloc->block_at(huge + slice + 5));
    CHECK(mimalloc->block_at(huge + slice + 5)->bytes == bytes);
    CHECK(mimalloc->block_at(huge + slice + 5)->in_use);
    CHECK(mimalloc->ranges().back().end == huge + 20 * slice);
    // It reaches into memory that is not there.
    process.memory.put(huge + version.segment_slices, std::uint64_t{1} << 30);
    CHECK(process.found()->ranges().size() == 1);
}

TEST_CASE("mimalloc 2: a list that leads out of its page, or in a circle, is damage and ends", "[mimalloc]") {
    Process process(versions[GENERATE(0, 2)]);
    const Address blocks = process.small_page();
    const Address lie = GENERATE(Address(64), Address(8), Address(640), Address(~std::uint64_t{0} - 7));
    if (lie.value == 64)  // back to the first of the list
        process.memory.put(blocks + 64, blocks + 128);
    else
        process.memory.put(blocks + 64, lie.value < 4096 ? blocks + lie.value : lie);
    const auto mimalloc = process.found();
    REQUIRE(mimalloc);
    CHECK(mimalloc->damage().places >= 1);
    CHECK(mimalloc->damage().bytes >= slice);
    CHECK_FALSE(mimalloc->block_at(blocks + 64)->in_use);
    CHECK(mimalloc->block_at(blocks + 5 * 64)->in_use);
}

TEST_CASE("mimalloc 2: counts that do not add up are damage", "[mimalloc]") {
    Process process(versions[GENERATE(0, 2)]);
    const Address blocks = process.small_page();
    SECTION("more in use than there are") { process.put_used(1, 7); }
    SECTION("a capacity beyond what the page can hold") {
        process.memory.put(process.page_header(1) + 10, std::uint16_t{0xffff});
    }
    SECTION("blocks larger than the page") { process.put_size(1, 3 * slice); }
    const auto mimalloc = process.found();
    REQUIRE(mimalloc);
    CHECK(mimalloc->damage().places == 1);
    CHECK(mimalloc->damage().bytes == slice);
    CHECK(mimalloc->block_at(blocks + 5 * 64)->in_use);
}

TEST_CASE("mimalloc 2: what does not add up is no segment, unless another of the same copy does",
          "[mimalloc]") {
    Process process(versions[2]);
    process.small_page();
    SECTION("slices that end early") { process.span(2, 509, 0); }
    SECTION("slices that go on") { process.span(2, 5000, 0); }
    SECTION("a page of no slices") { process.span(2, 0, 0); }
    SECTION("fewer pages than it says") { process.memory.put(segment_at + process.f.used, std::uint64_t{2}); }
    SECTION("no cookie") { process.memory.put(segment_at + process.f.cookie, std::uint64_t{0}); }
    SECTION("of a kind that does not exist") { process.memory.put(segment_at + process.f.kind, 2U); }
    SECTION("of another size") {
        process.memory.put(segment_at + process.f.segment_slices, std::uint64_t{511});
    }
    CHECK_FALSE(process.found());
}

TEST_CASE(
    "mimalloc 2: a torn segment beside a whole one is known by its cookie, and in use where it does not read",
    "[mimalloc]") {
    Process process(versions[2]);
    process.small_page();
    const Address torn = segment_at + (32 << 20);
    process.memory.map(torn, 16 * slice);
    process.segment(torn, 512, 0);
    process.span(1, 3, 0);
    process.span(4, 0, 0);
    const auto mimalloc = process.found();
    REQUIRE(mimalloc);
    CHECK(mimalloc->ranges().size() == 2);
    CHECK(mimalloc->damage().places == 1);
    CHECK_FALSE(mimalloc->block_at(torn + slice)->in_use);
    CHECK(mimalloc->block_at(torn + 5 * slice)->in_use);
    process.memory.put(torn + process.f.cookie, torn.value ^ (secret + 2));  // somebody else's
    CHECK(process.found()->ranges().size() == 1);
}
