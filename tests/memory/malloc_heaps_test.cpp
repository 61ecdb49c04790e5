// Chains of chunks as glibc leaves them: the brk heap, a thread's heap after its heap_info, blocks with their
// own mappings; and what only looks like a chunk: headers swallowed by a top or a merged chunk, and sizes
// that lead nowhere.

#include "parsers/memory/malloc_heaps.h"

#include "parsers/index/part.h"
#include "tests/catch.h"
#include "tests/memory/check_allocator.h"
#include "tests/memory/segment_of.h"

#include <sys/mman.h>

#include <cstring>
#include <vector>

using namespace heapsift;

namespace {

constexpr std::uint64_t prev_in_use = 1;
constexpr std::uint64_t mmapped = 2;
constexpr std::uint64_t page = 4096;
constexpr Address brk_start(0x555555560000);

/// Anonymous writable memory, with chunks written one after the other.
class Heap {
public:
    explicit Heap(std::uint64_t bytes, std::uint64_t first_chunk = 0, Address at_address = brk_start)
        : start(at_address), bytes_(bytes), at_(first_chunk) {}

    /// The next chunk; `size` includes its header. Returns the address that malloc would.
    Address chunk(std::uint64_t size, bool used = true) {
        word(at_ + 8, size | (previous_used_ ? prev_in_use : 0));
        if (!used) word(at_ + size, size);  // a free chunk keeps its size where the next one begins
        previous_used_ = used;
        const Address block = start + at_ + 16;
        at_ += size;
        return block;
    }
    /// The top chunk: the rest of the memory.
    Heap& top() {
        word(at_ + 8, (bytes_.size() - at_) | (previous_used_ ? prev_in_use : 0));
        return *this;
    }
    void word(std::uint64_t offset, std::uint64_t value) { std::memcpy(bytes_.data() + offset, &value, 8); }
    std::uint64_t at() const { return at_; }

    Segment segment() const { return test::segment_of(start, bytes_); }

    Address start;

private:
    std::vector<std::byte> bytes_;
    std::uint64_t at_;
    bool previous_used_ = true;
};

}  // namespace

TEST_CASE("malloc: the brk heap is walked from its first byte to its top", "[malloc]") {
    Heap heap(2 * page);
    const Address a = heap.chunk(32);
    const Address freed = heap.chunk(0x110, false);
    const Address b = heap.chunk(0x40);
    heap.top();
    const AddressSpace memory({heap.segment()});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    REQUIRE(heaps.heaps().size() == 1);
    const auto& found = heaps.heaps()[0];
    CHECK(found.range.start == heap.start);
    CHECK(found.range.end == heap.start + 2 * page);
    CHECK(found.chunks == 4);
    CHECK(found.in_use_bytes == 32 + 0x40);
    CHECK(found.free_bytes == 2 * page - 32 - 0x40);
    CHECK(heaps.heap_at(heap.start + 100) == &found);
    CHECK_FALSE(heaps.heap_at(heap.start - 1));
    CHECK_FALSE(heaps.heap_at(heap.start + 2 * page));
    // malloc_usable_size: the chunk without its header, and the first word of the next one.
    REQUIRE(heaps.block_starting_at(a));
    CHECK(heaps.block_starting_at(a)->usable == 24);
    CHECK(heaps.block_starting_at(b)->usable == 0x38);
    CHECK_FALSE(heaps.block_starting_at(a)->mmapped);
    CHECK_FALSE(heaps.block_starting_at(freed));
}

TEST_CASE("malloc: only the start of a block is one", "[malloc]") {
    Heap heap(page);
    const Address a = heap.chunk(0x80);
    heap.chunk(0x40);
    heap.word(0x18, 0x21);  // what looks like a chunk inside the first block
    heap.word(0x38, 0x21);
    heap.top();
    const AddressSpace memory({heap.segment()});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    CHECK(heaps.block_starting_at(a));
    CHECK_FALSE(heaps.block_starting_at(a + 16));
    CHECK_FALSE(heaps.block_starting_at(a + 8));
    CHECK_FALSE(heaps.block_starting_at(a + 1));
    CHECK_FALSE(heaps.block_starting_at(Address(0)));
    CHECK_FALSE(heaps.block_starting_at(Address(8)));
    CHECK_FALSE(heaps.block_starting_at(Address(~std::uint64_t{15})));
}

TEST_CASE("malloc: any byte of a block in use leads to it, of a free one or the top to none", "[malloc]") {
    Heap heap(page);
    const Address a = heap.chunk(0x80);
    const Address freed = heap.chunk(0x110, false);
    const Address b = heap.chunk(0x430);
    heap.top();
    const AddressSpace memory({heap.segment()});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    for (const std::uint64_t offset : {0, 1, 16, 0x77}) {
        REQUIRE(heaps.block_containing(a + offset));
        CHECK(heaps.block_containing(a + offset)->start == a);
    }
    REQUIRE(heaps.block_containing(b + 0x427));
    CHECK(heaps.block_containing(b + 0x427)->start == b);
    CHECK_FALSE(heaps.block_containing(a - 1));
    CHECK_FALSE(heaps.block_containing(a + 0x78));
    CHECK_FALSE(heaps.block_containing(freed));
    CHECK_FALSE(heaps.block_containing(freed + 0x80));
    CHECK_FALSE(heaps.block_containing(b + 0x430));
    CHECK_FALSE(heaps.block_containing(heap.start + page));
}

TEST_CASE("malloc: old headers inside the top are not blocks", "[malloc]") {
    Heap heap(page);
    heap.chunk(0x40);
    heap.chunk(0x40);
    const std::uint64_t top = heap.at();
    heap.top();
    const Address stale = heap.start + top + 0x40 + 16;
    heap.word(top + 0x40 + 8, 0x31);
    heap.word(top + 0x70 + 8, 0x31);
    const AddressSpace memory({heap.segment()});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    REQUIRE(heaps.heaps().size() == 1);
    CHECK_FALSE(heaps.block_starting_at(stale));
    CHECK_FALSE(heaps.block_starting_at(heap.start + top + 16));  // nor is the top itself
}

TEST_CASE("malloc: a thread's heap begins behind its heap_info and its arena", "[malloc]") {
    const std::uint64_t first = GENERATE(0x20, 0x30, 0x8b0, 0x8c0, 0x8d0);
    Heap heap(33 * page, first, Address(0x7fffe0000000));
    heap.word(0, 0x7fffe0000030);  // ar_ptr
    heap.word(16, 33 * page);      // size
    const Address a = heap.chunk(0x250);
    const Address b = heap.chunk(0x30);
    heap.chunk(0x30);
    heap.top();
    const AddressSpace memory({heap.segment()});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    REQUIRE(heaps.heaps().size() == 1);
    CHECK(heaps.heaps()[0].chunks == 4);
    CHECK(heaps.heaps()[0].in_use_bytes == 0x250 + 0x60);
    CHECK(heaps.block_starting_at(a));
    CHECK(heaps.block_starting_at(b));
}

TEST_CASE("malloc: the flag of a thread's arena is no part of the size", "[malloc]") {
    Heap heap(page, 0x20, Address(0x7fffe0000000));
    const Address a = heap.chunk(0x40);
    heap.chunk(0x40);
    heap.top();
    heap.word(0x28, 0x40 | prev_in_use | 4);
    const AddressSpace memory({heap.segment()});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    REQUIRE(heaps.heaps().size() == 1);
    CHECK(heaps.block_starting_at(a)->usable == 0x38);
}

TEST_CASE("malloc: a block in a mapping of its own", "[malloc]") {
    std::vector<std::byte> bytes(64 * page);
    const std::uint64_t header = (64 * page) | mmapped;
    std::memcpy(bytes.data() + 8, &header, 8);
    Segment s;
    s.start = Address(0x7ffff0000000);
    s.size = bytes.size();
    s.data = bytes.data();
    s.state = ByteState::in_core;
    s.writable = true;
    const AddressSpace memory({s});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    CHECK(heaps.heaps().empty());
    const auto block = heaps.block_starting_at(s.start + 16);
    REQUIRE(block);
    CHECK(block->mmapped);
    CHECK(block->usable == 64 * page - 16);
    // Not if the chunk would end off a page, or in memory that is not there.
    const std::uint64_t odd = (63 * page + 0x20) | mmapped;
    std::memcpy(bytes.data() + 8, &odd, 8);
    CHECK_FALSE(heaps.block_starting_at(s.start + 16));
    const std::uint64_t beyond = (1000 * page) | mmapped;
    std::memcpy(bytes.data() + 8, &beyond, 8);
    CHECK_FALSE(heaps.block_starting_at(s.start + 16));
}

TEST_CASE("malloc: an aligned block in a mapping of its own says what lies before it", "[malloc]") {
    const bool since_2_43 = GENERATE(false, true);
    const std::uint64_t lead = GENERATE(0, 0x30, 0xff0), huge = since_2_43 ? 1 : 0;
    std::vector<std::byte> bytes(64 * page);
    const std::uint64_t before = lead | huge;
    const std::uint64_t header = (64 * page - lead - (since_2_43 ? 16 : 0)) | mmapped;
    std::memcpy(bytes.data() + lead, &before, 8);
    std::memcpy(bytes.data() + lead + 8, &header, 8);
    Segment s;
    s.start = Address(0x7ffff0000000);
    s.size = bytes.size();
    s.data = bytes.data();
    s.state = ByteState::in_core;
    s.writable = true;
    const AddressSpace memory({s});
    const auto block = MallocHeaps::find(memory).block_starting_at(s.start + lead + 16);
    REQUIRE(block);
    CHECK(block->usable == 64 * page - lead - (since_2_43 ? 24 : 16));
    CHECK(block->mmapped);
}

TEST_CASE("malloc: a chain with a bogus size is not believed", "[malloc][damaged]") {
    const std::uint64_t bogus =
        GENERATE(std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x11}, std::uint64_t{0x2a | 1},
                 std::uint64_t{1} << 40 | 1, ~std::uint64_t{0}, std::uint64_t{0x40 | 3});
    Heap heap(page);
    heap.chunk(0x40);
    const std::uint64_t second = heap.at();
    const Address b = heap.chunk(0x40);
    heap.chunk(0x40);
    heap.top();
    heap.word(second + 8, bogus);
    const AddressSpace memory({heap.segment()});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    CHECK(heaps.heaps().empty());
    CHECK_FALSE(heaps.block_starting_at(b));
}

TEST_CASE("malloc: memory that is not a heap is none", "[malloc]") {
    std::vector<std::byte> zeros(4 * page);
    Segment s;
    s.start = Address(0x7ffff0000000);
    s.size = zeros.size();
    s.data = zeros.data();
    s.state = ByteState::in_core;
    s.writable = true;
    CHECK(MallocHeaps::find(AddressSpace({s})).heaps().empty());
    Heap heap(page);
    heap.chunk(0x40);
    heap.chunk(0x40);
    heap.top();
    Segment read_only = heap.segment();
    read_only.writable = false;
    Segment of_module = heap.segment();
    of_module.module = 0;
    Segment not_saved = heap.segment();
    not_saved.state = ByteState::not_saved;
    not_saved.data = nullptr;
    for (const Segment& other : {read_only, of_module, not_saved})
        CHECK(MallocHeaps::find(AddressSpace({other})).heaps().empty());
}

TEST_CASE("malloc: before glibc 2.32 a fast bin links a freed block to the next chunk of its size",
          "[malloc]") {
    Heap heap(page);
    const Address freed = heap.chunk(0x40), next = heap.chunk(0x40), larger = heap.chunk(0x50);
    const Address unlinked = heap.chunk(0x40, false), third = heap.chunk(0x40);
    heap.chunk(0x30);
    heap.top();
    Address link = next - 16;
    bool is_link = true;
    SECTION("to its header") {}
    SECTION("and so on") { heap.word(next - heap.start, (third - 16).value); }
    SECTION("not to one that leads elsewhere") {
        heap.word(next - heap.start, GENERATE(std::uint64_t{1}, brk_start.value + 0x800));
        is_link = false;
    }
    SECTION("not to one of another size") {
        link = larger - 16;
        is_link = false;
    }
    SECTION("not to what a chunk says is free: that is in no fast bin") {
        link = unlinked - 16;
        is_link = false;
    }
    SECTION("not to the middle of a block") {
        link = next;
        is_link = false;
    }
    SECTION("not to an odd address, or outside") {
        link = GENERATE(Address(1), brk_start - 16, brk_start + page, brk_start + 0x41);
        is_link = false;
    }
    heap.word(freed - heap.start, link.value);
    const AddressSpace memory({heap.segment()});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    REQUIRE(heaps.block_starting_at(freed));
    CHECK(heaps.is_fast_bin_link(freed) == is_link);
    CHECK(heaps.is_cached(*heaps.block_starting_at(freed)) == is_link);
    CHECK_FALSE(heaps.is_fast_bin_link(freed + 8));
    CHECK_FALSE(heaps.is_fast_bin_link(brk_start - 16));
}

TEST_CASE("malloc: a block above the fast bins' sizes is in none of them", "[malloc]") {
    const std::uint64_t size = GENERATE(0xb0, 0xc0);
    Heap heap(page);
    const Address freed = heap.chunk(size), next = heap.chunk(size);
    heap.chunk(0x30);
    heap.top();
    heap.word(freed - heap.start, (next - 16).value);
    const AddressSpace memory({heap.segment()});
    CHECK(MallocHeaps::find(memory).is_fast_bin_link(freed) == (size == 0xb0));
}

TEST_CASE("malloc: a thread's cache of glibc 2.26 leaves the address of the next block and no more",
          "[malloc]") {
    Heap heap(page);
    const Address freed = heap.chunk(0x400), next = heap.chunk(0x400), other = heap.chunk(0x40);
    heap.chunk(0x30);
    heap.top();
    const bool same_size = GENERATE(true, false);
    heap.word(freed - heap.start, same_size ? next.value : other.value);
    const AddressSpace memory({heap.segment()});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    CHECK(heaps.is_free_list_link(freed) == same_size);
    // In C's own memory it may be a list that belongs to C code.
    CHECK_FALSE(heaps.is_fast_bin_link(freed));
    CHECK_FALSE(heaps.is_cached(*heaps.block_starting_at(freed)));
}

TEST_CASE("malloc: elsewhere a chunk is believed by its own header and that of the next", "[malloc]") {
    std::vector<std::byte> bytes(page);
    const std::uint64_t size = 0x50 | prev_in_use;
    std::memcpy(bytes.data() + 0x108, &size, 8);
    std::memcpy(bytes.data() + 0x158, &size, 8);
    Segment s;
    s.start = Address(0x7ffff0000000);
    s.size = bytes.size();
    s.data = bytes.data();
    s.state = ByteState::in_core;
    s.writable = true;
    const AddressSpace memory({s});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    REQUIRE(heaps.block_starting_at(s.start + 0x110));
    CHECK(heaps.block_starting_at(s.start + 0x110)->usable == 0x48);
    const std::uint64_t next_says_free = 0x50;
    std::memcpy(bytes.data() + 0x158, &next_says_free, 8);
    CHECK_FALSE(heaps.block_starting_at(s.start + 0x110));
}

TEST_CASE("malloc: a heap that is cut after a page is read to its last byte and no further",
          "[malloc][damaged]") {
    // The page after the saved bytes traps: they are all that may be read.
    auto* mapping = static_cast<std::byte*>(
        ::mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(mapping != MAP_FAILED);
    REQUIRE(::mprotect(mapping + 2 * page, page, PROT_NONE) == 0);
    const std::uint64_t size = page + 8;
    std::byte* data = mapping + 2 * page - size;
    const auto word = [&](std::uint64_t offset, std::uint64_t value) {
        std::memcpy(data + offset, &value, 8);
    };
    word(8, 0x400 | prev_in_use);
    word(0x408, 0x400 | prev_in_use);
    word(0x808, 0x800 | prev_in_use);  // ends with the page; the next header is cut off
    Segment s;
    s.start = brk_start;
    s.size = size;
    s.data = data;
    s.state = ByteState::in_core;
    s.writable = true;
    s.cut = true;
    const AddressSpace memory({s});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    REQUIRE(heaps.heaps().size() == 1);
    CHECK(heaps.heaps()[0].chunks == 3);
    CHECK(heaps.block_starting_at(brk_start + 16));
    ::munmap(mapping, 3 * page);
}

namespace {

/// libc's data, with the main arena as glibc 2.27 to 2.42 leave it (malloc_state_test.cpp has the other
/// shapes).
class LibcData {
public:
    LibcData(Address top, std::uint64_t system_bytes) {
        const Address arena = start + 0xc60, bins = arena + 0x70;
        word(bins - 0x10, top.value);
        for (Address pair = bins; pair < bins + 127 * 0x10; pair = pair + 0x10) {
            word(pair, (pair - 0x10).value);
            word(pair + 8, (pair - 0x10).value);
        }
        word(bins + 0x800, arena.value);
        word(bins + 0x818, system_bytes);
    }
    void word(Address at, std::uint64_t value) { std::memcpy(bytes_.data() + (at - start), &value, 8); }
    Segment segment() const { return test::segment_of(start, bytes_, 0); }

private:
    static constexpr Address start{0x7ffff7dd0000};
    std::vector<std::byte> bytes_ = std::vector<std::byte>(2 * page);
};

}  // namespace

TEST_CASE("malloc: a heap is whole if the core lacks only the end of its top", "[malloc][damaged]") {
    constexpr std::uint64_t saved = 4 * page, blocks = 300, left_out = 8 * page;
    Heap heap(saved);
    for (std::uint64_t i = 0; i < blocks; ++i) heap.chunk(0x20);
    const std::uint64_t top = heap.at();
    heap.word(top + 8, (saved + left_out - top) | prev_in_use);
    // What the core does not name, as by gcore, or names without its bytes.
    const bool named = GENERATE(false, true);
    const auto memory_with = [&](const LibcData& libc) {
        std::vector<Segment> segments{heap.segment(), libc.segment()};
        if (named) {
            Segment end;
            end.start = heap.start + saved;
            end.size = left_out;
            end.writable = true;
            segments.push_back(end);
        }
        return AddressSpace(segments);
    };
    SECTION("the arena says that it is the top") {
        const LibcData libc(heap.start + top, saved + left_out);
        const AddressSpace memory = memory_with(libc);
        MallocHeaps heaps = MallocHeaps::find(memory);
        CHECK(heaps.broken_heaps() == 0);
        REQUIRE(heaps.heaps().size() == 1);
        const MallocHeaps::Heap& found = heaps.heaps()[0];
        CHECK(found.range.end == heap.start + saved);
        CHECK(found.chunks == blocks + 1);
        CHECK(found.in_use_bytes == blocks * 0x20);
        CHECK(found.free_bytes == saved - top);
        const std::vector<MemoryBlock> all = test::check_allocator(heaps);
        REQUIRE(all.size() == blocks + 1);
        CHECK_FALSE(all.back().in_use);
        CHECK(all.back().range().end == heap.start + saved);
        CHECK_FALSE(heaps.block_starting_at(heap.start + top + 16));
        CHECK_FALSE(heaps.block_at(heap.start + saved - 1)->in_use);
        CHECK(heaps.attach(memory, true));
    }
    SECTION("another chunk is the top") {
        const LibcData libc(heap.start + top - 0x20, saved + left_out);
        const AddressSpace memory = memory_with(libc);
        CHECK(MallocHeaps::find(memory).broken_heaps() == 1);
    }
    SECTION("it is larger than all that the arena has: overwritten") {
        const LibcData libc(heap.start + top, saved);
        const AddressSpace memory = memory_with(libc);
        CHECK(MallocHeaps::find(memory).broken_heaps() == 1);
    }
    SECTION("nobody says so") {
        const LibcData libc(Address(), 0);
        const AddressSpace memory = memory_with(libc);
        CHECK(MallocHeaps::find(memory).broken_heaps() == 1);
    }
}

TEST_CASE("malloc: as an allocator, its blocks make up its heaps but for their headers",
          "[malloc][allocator]") {
    Heap heap(2 * page);
    const Address a = heap.chunk(32);
    const Address freed = heap.chunk(0x110, false);
    const Address b = heap.chunk(0x40);
    heap.top();
    const AddressSpace memory({heap.segment()});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    const Allocator& allocator = heaps;
    REQUIRE(allocator.ranges().size() == 1);
    CHECK(allocator.ranges()[0].start == heap.start);
    CHECK(allocator.ranges()[0].size() == 2 * page);
    const std::vector<MemoryBlock> blocks = test::check_allocator(allocator);
    REQUIRE(blocks.size() == 4);
    CHECK(blocks[0].start == a);
    CHECK(blocks[0].bytes == 32 - 8);
    CHECK(blocks[0].in_use);
    CHECK(blocks[1].start == freed - 8);
    CHECK(blocks[1].bytes == 0x110);
    CHECK_FALSE(blocks[1].in_use);
    CHECK(blocks[2].start == b);
    CHECK(blocks[2].bytes == 0x40 - 8);
    CHECK_FALSE(blocks[3].in_use);
    CHECK(blocks[3].range().end == heap.start + 2 * page);
    CHECK_FALSE(allocator.block_at(a - 1));
    CHECK_FALSE(allocator.block_at(heap.start));
    CHECK_FALSE(allocator.block_at(heap.start + 2 * page));
}

namespace {

/// What an index keeps of heaps, to be changed and read again.
struct KeptHeaps {
    explicit KeptHeaps(const MallocHeaps& heaps) {
        PartWriter part("malloc");
        MallocHeaps::fields(heaps, part);
        for (const auto& blob : part.blobs()) blobs.emplace_back(blob.begin(), blob.end());
    }
    std::uint64_t* bits() { return reinterpret_cast<std::uint64_t*>(blobs[1].data()); }
    /// Throws if it does not read.
    MallocHeaps read() const {
        PartReader part({blobs.begin(), blobs.end()}, true, nullptr);
        MallocHeaps heaps;
        MallocHeaps::fields(heaps, part);
        part.finish();
        return heaps;
    }
    std::vector<std::vector<std::byte>> blobs;
};

}  // namespace

TEST_CASE("malloc: heaps are kept in an index and read again", "[malloc][index]") {
    Heap brk(2 * page), arena(page, 0x20, Address(0x7f0000000000));
    std::vector<Address> blocks;
    for (Heap* heap : {&brk, &arena}) {
        blocks.push_back(heap->chunk(32));
        blocks.push_back(heap->chunk(0x110, false));
        blocks.push_back(heap->chunk(0x40));
        heap->top();
    }
    arena.word(0, 0x7f0000000030);
    const AddressSpace memory({brk.segment(), arena.segment()});
    const MallocHeaps found = MallocHeaps::find(memory);
    REQUIRE(found.heaps().size() == 2);
    KeptHeaps kept(found);
    MallocHeaps again = kept.read();
    for (const bool whole : {true, false}) {
        REQUIRE(again.attach(memory, whole));
        REQUIRE(again.heaps().size() == 2);
        for (std::size_t i = 0; i < 2; ++i) {
            const MallocHeaps::Heap &one = found.heaps()[i], &other = again.heaps()[i];
            CHECK(one.range.start == other.range.start);
            CHECK(one.range.end == other.range.end);
            CHECK(one.in_use_bytes == other.in_use_bytes);
            CHECK(one.free_bytes == other.free_bytes);
            CHECK(one.arena == other.arena);
            CHECK(one.data == other.data);
        }
        for (const Address block : blocks) {
            CHECK(found.block_starting_at(block).has_value() == again.block_starting_at(block).has_value());
            CHECK(found.block_at(block)->start == again.block_at(block)->start);
            CHECK(found.block_at(block)->in_use == again.block_at(block)->in_use);
        }
    }
    CHECK(again.block_starting_at(blocks[0]));
    CHECK_FALSE(again.block_starting_at(blocks[1]));

    // Another core: a heap is not there, or it is shorter, or a block's size is overwritten.
    CHECK_FALSE(again.attach(AddressSpace({brk.segment()}), false));
    Segment shorter = brk.segment();
    shorter.size = page;
    CHECK_FALSE(again.attach(AddressSpace({shorter, arena.segment()}), false));
    brk.word(8, 0);
    CHECK_FALSE(kept.read().attach(memory, true));
    brk.word(8, 32 | prev_in_use);
    CHECK(kept.read().attach(memory, true));
    // A bit where no block can begin: before the first chunk, or behind the last.
    for (const std::uint64_t place : {std::uint64_t{0}, 2 * page / 16}) {
        kept.bits()[place / 64] ^= std::uint64_t{1} << (place % 64);
        CHECK_FALSE(kept.read().attach(memory, true));
        kept.bits()[place / 64] ^= std::uint64_t{1} << (place % 64);
    }
    // Fewer bits than the heaps need.
    kept.blobs[1].resize(kept.blobs[1].size() - 8);
    CHECK_THROWS_AS(kept.read(), IndexDamage);
}
