// jemalloc as it lies in memory, of 5.2 and 5.3, built for addresses of 48 and of 57 bits: a root in a library's .bss, a leaf and extents in a block of its own,
// slabs, large blocks, free pages, and a thread's cache; then headers that lie.

#include "parsers/memory/jemalloc.h"

#include "tests/catch.h"
#include "tests/memory/check_allocator.h"
#include "tests/memory/segment_of.h"

#include <cstring>
#include <random>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t page = 4096, table = 2 << 20;
constexpr Address image_start(0x7fff10000000), own_start(0x7ffe80000000), heap_start(0x7ffe40000000),
    stack_start(0x7fff20000000);
constexpr std::uint64_t own_bytes = 6 << 20, heap_pages = 512, stack_bytes = 128 << 10;
constexpr std::uint64_t leaf_at = 0x100c0, middle_at = 0x200040, extents_at = 0x300000, table_at = 0x400000;
constexpr std::uint64_t root_at = 0x1238;
constexpr std::uint8_t of_64_bytes = 4, of_4096_bytes = 28, of_16_kib = 36, of_20_kib = 37, free_class = 232;

struct Region {
    explicit Region(Address at, std::uint64_t size) : start(at), bytes(size) {}
    void put(Address at, std::uint64_t value, std::size_t width = 8) {
        std::memcpy(bytes.data() + (at - start), &value, width);
    }
    Segment segment(std::int32_t module = -1) const { return test::segment_of(start, bytes, module); }
    Address start;
    std::vector<std::byte> bytes;
};

struct Build {
    JemallocVersion version;
    bool wide;  // for addresses of 57 bits
};

class Fake {
public:
    explicit Fake(Build build) : version_(build.version), wide_(build.wide) {
        own.put(own_start, own_bytes);
        const Address rest = own_start + 0x500000;
        own.put(own_start + 24, rest.value);
        own.put(own_start + 32, own_bytes - 0x500000);
        if (wide_) {
            bss.put(image_start + root_at + 8 * (heap_start.value >> 42), (own_start + middle_at).value);
            own.put(own_start + middle_at + 8 * (heap_start.value >> 27 & 0x7fff),
                    (own_start + leaf_at).value);
        } else {
            bss.put(image_start + root_at + 8 * (heap_start.value >> 30), (own_start + leaf_at).value);
        }
        thread.registers[21] = (stack_start + stack_bytes - 256).value;
    }

    /// The next extent's struct; `state`: 0 active, 1 dirty.
    Address extent(Address start, std::uint64_t pages, std::uint8_t size_class, bool slab, unsigned state,
                   unsigned free_regions = 0) {
        const Address at = own_start + extents_at + 128 * extents++;
        const bool new_one = version_ == JemallocVersion::v5_3;
        own.put(at, std::uint64_t{slab} << 12 | std::uint64_t{1} << 13 |
                        std::uint64_t{state} << (new_one ? 17 : 16) |
                        std::uint64_t{size_class} << (new_one ? 20 : 18) |
                        std::uint64_t{free_regions} << (new_one ? 28 : 26));
        own.put(at + 8, start.value);
        own.put(at + 16, pages * page | 5);
        const Address first = start.rounded_down(page);
        for (std::uint64_t i = 0; i < pages; ++i)
            if (slab || i == 0 || i + 1 == pages) leaf(first + i * page, at, size_class, slab, state);
        return at;
    }
    void leaf(Address page_at, Address extent_at, std::uint8_t size_class, bool slab, unsigned state) {
        const bool new_one = version_ == JemallocVersion::v5_3;
        const std::uint64_t number = page_at.value >> 12, flags = (new_one ? state << 2 : 0) | (slab ? 1 : 0);
        if (!wide_) {
            own.put(own_start + leaf_at + 8 * (number % (1 << 18)),
                    std::uint64_t{size_class} << 48 | extent_at.value | flags);
            return;
        }
        const Address entry = own_start + leaf_at + 16 * (number % (1 << 15));
        own.put(entry, extent_at.value);
        own.put(entry + 8, new_one ? std::uint64_t{size_class} << 5 | flags : size_class | flags << 32);
    }
    /// A slab of one page with 64 regions; bits set in `free` are free ones.
    Address slab(std::uint64_t page_number, std::uint64_t free) {
        const Address start = heap_start + page_number * page;
        const Address at = extent(start, 1, of_64_bytes, true, 0, static_cast<unsigned>(std::popcount(free)));
        own.put(at + 64, free);
        return start;
    }
    /// Some slabs, so that there is enough that proves itself.
    void slabs(std::uint64_t from, std::uint64_t count) {
        for (std::uint64_t i = 0; i < count; ++i) slab(from + i, 0);
    }

    /// The main thread's cache, with these blocks of 64 bytes.
    void cache(const std::vector<Address>& blocks) {
        const Address bottom = own_start + table_at + 8 * 200;
        for (std::size_t i = 0; i < blocks.size(); ++i) own.put(bottom - 8 * (i + 1), blocks[i].value);
        const Address at = stack_start + stack_bytes - 0x4000;
        const Address bins = version_ == JemallocVersion::v5_3 ? at + 0x208 : at + 16;
        const Address descriptor = version_ == JemallocVersion::v5_3 ? at + 16 : bins + 36 * 24 + 56;
        stack.put(descriptor, descriptor.value);
        stack.put(descriptor + 8, descriptor.value);
        stack.put(descriptor + 16, bins.value);
        const Address bin = bins + of_64_bytes * 24;
        if (version_ == JemallocVersion::v5_3) {
            stack.put(bins - 8, at.value);
            stack.put(bin, (bottom - 8 * blocks.size()).value);
            stack.put(bin + 20, bottom.value & 0xffff, 2);
        } else {
            stack.put(descriptor + 24, (descriptor + 80).value);
            for (unsigned i = 0; i < 36; ++i) stack.put(bins + 24 * i + 16, bottom.value);
            stack.put(bin, std::uint64_t{blocks.size()} << 32);
        }
    }

    std::unique_ptr<const Jemalloc> find() const {
        memory = AddressSpace({bss.segment(0), own.segment(), heap.segment(), stack.segment()});
        Module module;
        module.start = image_start;
        module.end = image_start + page;
        module.image_end = image_start + bss.bytes.size();
        return Jemalloc::find(memory, std::vector{module}, std::vector{thread});
    }

    mutable AddressSpace memory;
    Region bss{image_start, table + 0x10000}, own{own_start, own_bytes}, heap{heap_start, heap_pages*page},
        stack{stack_start, stack_bytes};
    CoreThread thread;
    std::uint64_t extents = 0;

private:
    JemallocVersion version_;
    bool wide_;
};

Build any_build() {
    return GENERATE(Build{JemallocVersion::v5_2, false}, Build{JemallocVersion::v5_3, false},
                    Build{JemallocVersion::v5_2, true}, Build{JemallocVersion::v5_3, true});
}

}  // namespace

TEST_CASE("jemalloc: size classes are those of sc.h", "[jemalloc]") {
    const std::vector<std::uint64_t> first{8, 16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320};
    for (unsigned i = 0; i < first.size(); ++i) CHECK(jemalloc_class_bytes(i) == first[i]);
    CHECK(jemalloc_class_bytes(of_4096_bytes) == 4096);
    CHECK(jemalloc_class_bytes(35) == 14336);
    CHECK(jemalloc_class_bytes(of_16_kib) == 16384);
    CHECK(jemalloc_class_bytes(jemalloc_classes - 1) == 0x7000000000000000);
}

TEST_CASE("jemalloc: regions of slabs, large blocks and free pages are found, in 5.2 and 5.3", "[jemalloc]") {
    Fake fake(any_build());
    fake.slabs(0, 10);
    const Address slab = fake.slab(10, 0b1010);
    fake.extent(heap_start + 16 * page + 192, 6, of_20_kib, false, 0);  // starts within its first page
    fake.extent(heap_start + 22 * page, 20, free_class, false, 1);
    const auto found = fake.find();
    REQUIRE(found);
    CHECK(found->doubts().extents == 0);
    CHECK(found->doubts().no_caches);
    check_allocator(*found);

    const auto first = found->block_at(slab + 63);
    REQUIRE(first);
    CHECK((first->start == slab && first->bytes == 64 && first->in_use));
    CHECK_FALSE(found->block_at(slab + 64)->in_use);
    CHECK(found->block_at(slab + 128)->in_use);
    CHECK_FALSE(found->block_at(slab + 3 * 64 + 1)->in_use);
    const auto large = found->block_at(heap_start + 20 * page);
    REQUIRE(large);
    CHECK((large->start == heap_start + 16 * page + 192 && large->bytes == 20480 && large->in_use));
    CHECK_FALSE(found->block_at(heap_start + 16 * page));  // padding before it
    CHECK_FALSE(found->block_at(heap_start + 16 * page + 192 + 20480));
    const auto free = found->block_at(heap_start + 30 * page);
    REQUIRE(free);
    CHECK((free->start == heap_start + 22 * page && free->bytes == 20 * page && !free->in_use));
    CHECK_FALSE(found->block_at(heap_start + 100 * page));

    // Its own memory is in its ranges, without blocks.
    const std::vector<AddressRange> ranges = found->ranges();
    REQUIRE(ranges.size() == 3);
    CHECK((ranges[2].start == own_start && ranges[2].size() == own_bytes));
    CHECK_FALSE(found->block_at(own_start + leaf_at));
}

TEST_CASE("jemalloc: a large block of 5.3.1 has as many pages as were asked for, below the size of its class",
          "[jemalloc]") {
    constexpr unsigned of_112_kib = 47;
    REQUIRE(jemalloc_class_bytes(of_112_kib) == 28 * page);
    const Build build = any_build();
    Fake fake(build);
    fake.slabs(0, 30);
    fake.extent(heap_start + 40 * page + 192, 27, of_112_kib, false, 0);
    fake.extent(heap_start + 80 * page, 27, of_112_kib, false,
                0);  // it begins with its first page, one of 64
    const auto found = fake.find();
    REQUIRE(found);
    const bool known = build.version == JemallocVersion::v5_3;
    CHECK(found->doubts().extents == (known ? 0 : 2));
    for (const std::uint64_t start : {40 * page + 192, 80 * page}) {
        const auto block = found->block_at(heap_start + start + page);
        REQUIRE(block.has_value() == known);
        if (block) CHECK((block->start == heap_start + start && block->bytes == 26 * page && block->in_use));
    }
    check_allocator(*found);
}

TEST_CASE("jemalloc: what a thread's cache holds is free, and its table is nobody's", "[jemalloc]") {
    Fake fake(any_build());
    fake.slabs(0, 10);
    fake.cache({heap_start + 64, heap_start + page + 640});
    const auto found = fake.find();
    REQUIRE(found);
    CHECK_FALSE(found->doubts().no_caches);
    CHECK(found->doubts().cached == 0);
    CHECK(found->block_at(heap_start)->in_use);
    CHECK_FALSE(found->block_at(heap_start + 64)->in_use);
    CHECK_FALSE(found->block_at(heap_start + page + 640)->in_use);
    check_allocator(*found);
}

TEST_CASE("jemalloc: a cache that names what is no block of its size is told", "[jemalloc][damaged]") {
    Fake fake(any_build());
    fake.slabs(0, 10);
    fake.slab(10, 1);
    fake.cache({heap_start + 8, heap_start + 10 * page, Address(0x4141414141414141), own_start,
                heap_start + 128, heap_start + 128});
    const auto found = fake.find();
    REQUIRE(found);
    CHECK(found->doubts().cached == 5);  // the middle of one, a free one, none, and one that is there twice
    CHECK_FALSE(found->block_at(heap_start + 128)->in_use);
    check_allocator(*found);
}

TEST_CASE("jemalloc: extents that do not agree with the leaf, or overlap, are left out and told",
          "[jemalloc][damaged]") {
    Fake fake(any_build());
    fake.slabs(0, 30);
    const Address lying = fake.slab(40, 0);
    fake.own.put(own_start + extents_at + 128 * (fake.extents - 1) + 8,
                 (lying + page).value);  // another address
    const Address other_class = fake.slab(42, 0);
    fake.leaf(other_class, own_start + extents_at + 128 * (fake.extents - 1), of_4096_bytes, true, 0);
    fake.extent(heap_start + 44 * page, 1, of_20_kib, false, 0);  // a block larger than its pages
    const auto found = fake.find();
    REQUIRE(found);
    CHECK(found->doubts().extents == 3);
    for (const std::uint64_t number : {40, 42, 44}) CHECK_FALSE(found->block_at(heap_start + number * page));
    check_allocator(*found);
}

TEST_CASE("jemalloc: a slab with a wrong count of free regions is believed, and told",
          "[jemalloc][damaged]") {
    Fake fake(any_build());
    fake.slabs(0, 30);
    const Address slab = fake.slab(30, 0b11);
    fake.own.put(own_start + extents_at + 128 * (fake.extents - 1) + 64, 0b111);
    const auto found = fake.find();
    REQUIRE(found);
    CHECK(found->doubts().extents == 1);
    CHECK_FALSE(found->block_at(slab + 128)->in_use);
}

TEST_CASE("jemalloc: a tree of which most does not prove itself is none", "[jemalloc][damaged]") {
    Fake fake(any_build());
    fake.slabs(0, 20);
    for (std::uint64_t i = 1; i < 20; i += 2)
        fake.own.put(own_start + extents_at + 128 * i + 8, (heap_start + i * page + 1).value);
    CHECK_FALSE(fake.find());
}

TEST_CASE("jemalloc: memory without a tree has none, also where words look like leaves", "[jemalloc]") {
    Fake fake(any_build());
    CHECK_FALSE(fake.find());
    // A table full of pointers to one place, which is full of pointers.
    for (std::uint64_t i = 0; i < 2 << 10; ++i)
        fake.bss.put(image_start + 8 * i, (own_start + leaf_at).value);
    for (std::uint64_t i = 0; i < 1 << 18; ++i) fake.own.put(own_start + leaf_at + 8 * i, own_start.value);
    CHECK_FALSE(fake.find());
}

TEST_CASE("jemalloc: whatever bytes are overwritten, blocks stay in order and within the ranges",
          "[jemalloc][damaged]") {
    const Build build = any_build();
    std::mt19937_64 random(7);
    for (int round = 0; round < 40; ++round) {
        Fake fake(build);
        fake.slabs(0, 100);
        fake.extent(heap_start + 120 * page, 6, of_20_kib, false, 0);
        fake.extent(heap_start + 130 * page, 50, free_class, false, 1);
        fake.cache({heap_start + 64, heap_start + 128});
        const std::uint64_t words[] = {0,
                                       1,
                                       ~std::uint64_t{0},
                                       own_start.value,
                                       heap_start.value,
                                       (own_start + extents_at).value,
                                       std::uint64_t{1} << 46};
        for (int hits = 0; hits < 12; ++hits) {
            const std::uint64_t value = hits % 2 == 0 ? words[random() % std::size(words)] : random();
            const std::uint64_t number = random() % 102;
            switch (random() % 4) {
                case 0:
                    fake.own.put(own_start + extents_at + 128 * number + 8 * (random() % 16), value);
                    break;
                case 1:
                    fake.own.put(own_start + leaf_at + 8 * number, value);
                    break;
                case 2:
                    fake.stack.put(stack_start + stack_bytes - 0x4000 + 8 * (random() % 256), value);
                    break;
                default:
                    fake.bss.put(image_start + root_at + 8 * (heap_start.value >> (build.wide ? 42 : 30)) +
                                     8 * (random() % 4),
                                 value);
            }
        }
        if (const auto found = fake.find()) check_allocator(*found);
    }
}
