// The map of a whole core: rows that add up, whatever its objects claim; and an allocator that is neither
// pymalloc nor malloc.

#include "parsers/snapshot/regions.h"

#include "parsers/cpython/type_finder.h"
#include "parsers/snapshot/builder.h"
#include "parsers/snapshot/object_kinds.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <algorithm>
#include <random>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// Blocks of 64 bytes in a row, of which every second one is free.
class EvenBlocks final : public Allocator {
public:
    EvenBlocks(Address start, std::uint64_t count) : start_(start), count_(count) {}
    const char* name() const override { return "even"; }
    std::vector<AddressRange> ranges() const override { return {{start_, start_ + 64 * count_}}; }
    std::optional<MemoryBlock> block_at(Address address) const override {
        if (!ranges()[0].contains(address)) return std::nullopt;
        return block((address - start_) / 64);
    }
    void visit_blocks(const BlockVisitor& visit) const override {
        std::vector<MemoryBlock> blocks;
        for (std::uint64_t i = 0; i < count_; ++i) blocks.push_back(block(i));
        visit(blocks);
    }

private:
    MemoryBlock block(std::uint64_t i) const { return {start_ + 64 * i, 64, i % 2 == 0}; }
    Address start_;
    std::uint64_t count_;
};

struct Mapped {
    /// `stack`: where a thread's stack pointer points; so many bytes are cut off at the end.
    explicit Mapped(SmallCore& small, std::unique_ptr<const Allocator> more = nullptr, Address stack = {},
                    std::size_t lost = 0)
        : core(CoreFile::open(directory.write("core", without_end(small.bytes(stack), lost)), {},
                              diagnostics)),
          python(find_python_runtime(core, diagnostics)),
          types(find_types(core.memory(), python, all_object_kinds())),
          heap(core.memory(), python, types),
          allocations(core, Pymalloc::find(heap, diagnostics), MallocHeaps::find(core.memory())),
          access(heap, allocations) {
        if (more) allocations.add(std::move(more));
        objects = find_objects(core, access, diagnostics, {});
        owned = measure_objects(objects, access);
        regions = map_regions(core, allocations, owned.places, objects);
    }
    static std::string without_end(std::string bytes, std::size_t lost) {
        bytes.resize(bytes.size() - std::min(lost, bytes.size()));
        return bytes;
    }
    bool found(Address object) const {
        return std::binary_search(objects.addresses.begin(), objects.addresses.end(), object);
    }

    TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreFile core;
    PythonRuntime python;
    TypeTable types;
    PythonHeap heap;
    Allocations allocations;
    ObjectAccess access;
    FoundObjects objects;
    OwnedMemory owned;
    Regions regions;
};

}  // namespace

TEST_CASE("regions of a core: each byte that is mapped has one owner", "[snapshot][regions]") {
    SmallCore small;
    const Mapped mapped(small);
    const MemoryShares& shares = mapped.regions.shares;
    CHECK(shares.sum() == mapped.core.extent().mapped_bytes);
    CHECK(mapped.regions.overlaps == 0);
    CHECK(shares[MemoryOwner::objects] > 0);
    CHECK(shares[MemoryOwner::free] > 0);
    std::uint64_t memory = 0;
    for (std::uint32_t i = 0; i < mapped.owned.sizes.count(); ++i) memory += mapped.owned.sizes.memory(i);
    CHECK(shares[MemoryOwner::objects] + shares[MemoryOwner::array_data] == memory);
}

TEST_CASE(
    "regions of a core: pages of zeros in a block with a mapping of its own may never have been touched",
    "[snapshot][regions]") {
    constexpr std::uint64_t page = 4096;
    SmallCore small;
    const Address own = small.heap.map(Address(0x7c0000000000), 64 * page);
    small.heap.put(own + 8, std::uint64_t{64 * page} | 2);
    small.heap.put(own + 5 * page + 16, std::uint64_t{1});  // and this page was
    const Address in_heap = small.heap.allocate(8 * page);
    small.heap.put(in_heap, std::uint64_t{1});
    small.gcore = true;
    const Mapped mapped(small);
    const MemoryShares& shares = mapped.regions.shares;
    CHECK(shares.sum() == mapped.core.extent().mapped_bytes);
    const auto own_row = std::find_if(mapped.regions.mappings.begin(), mapped.regions.mappings.end(),
                                      [&](const AddressRange& range) { return range.start == own; });
    REQUIRE(own_row != mapped.regions.mappings.end());
    const MemoryShares& of_own =
        mapped.regions.of_mappings[static_cast<std::size_t>(own_row - mapped.regions.mappings.begin())];
    CHECK(of_own[MemoryOwner::zero_blocks] == 62 * page);
    CHECK(of_own[MemoryOwner::c_code] == 2 * page - 16);  // behind the header
    // Of a heap what was handed out is in use: it may be filled with zeros.
    CHECK(shares[MemoryOwner::c_code] >= 10 * page - 16);
}

TEST_CASE("regions of a core: a block that two objects claim counts once, and is told",
          "[snapshot][regions]") {
    SmallCore small;
    const Mapped whole(small);
    // The list's items are claimed to be in a float's pool block.
    small.heap.set(small.items, small.heap.layout().list.ob_item, small.kept_float);
    const Mapped torn(small);
    REQUIRE(torn.found(small.items));
    CHECK(torn.regions.shares.sum() == torn.core.extent().mapped_bytes);
    CHECK(torn.regions.overlaps == 1);
}

TEST_CASE("regions of a core: another allocator is added in one line", "[snapshot][regions][allocator]") {
    SmallCore small;
    const Address memory = small.heap.map(Address(0x7c0000000000), 4096);
    const Address float_type = small.heap.builtin("float");
    for (const Address at : {memory, memory + 64}) {  // the second lies in a block that is free
        small.heap.put(at, std::uint64_t{1});
        small.heap.put(at + 8, float_type);
        small.heap.put(at + 16, 1.5);
    }
    const Mapped without(small);
    CHECK_FALSE(without.found(memory));
    const Mapped with(small, std::make_unique<EvenBlocks>(memory, 32));
    CHECK_FALSE(with.found(memory + 64));
    const MemoryShares &before = without.regions.shares, &after = with.regions.shares;
    CHECK(after.sum() == before.sum());
    CHECK(after[MemoryOwner::free] == before[MemoryOwner::free] + 16 * 64);
    const std::uint64_t in_use = 16 * 64;
    CHECK(after[MemoryOwner::objects] + after[MemoryOwner::c_code] ==
          before[MemoryOwner::objects] + before[MemoryOwner::c_code] + in_use);
    CHECK(with.allocations.block_starting_at(memory)->owner == Allocations::Owner::other);
    CHECK_FALSE(with.allocations.block_starting_at(memory + 64));
    CHECK(with.allocations.bytes_of(memory, 24) == 64);
    CHECK_FALSE(with.allocations.held(memory, 65).whole);
}

TEST_CASE("objects: a link of another allocator's list of free blocks is no count, where the heap is low",
          "[snapshot][allocator]") {
    SmallCore small;
    const Address memory = small.heap.map(Address(0x11041000), 4096);
    const std::uint64_t next = GENERATE(4, 5);  // a block in use, and one that is free
    const Address live = memory, freed = memory + 128;
    for (const Address at : {live, freed}) {  // a bytes object each
        small.heap.put(at, std::uint64_t{1});
        small.heap.put(at + 8, small.heap.builtin("bytes"));
        small.heap.put(at + 16, std::uint64_t{3});
        small.heap.put(at + 32, std::uint64_t{0x00636261});
    }
    small.heap.put(freed, memory + 64 * next);
    const Mapped with(small, std::make_unique<EvenBlocks>(memory, 32));
    CHECK(with.found(live));
    CHECK_FALSE(with.found(freed));
    CHECK(with.allocations.begins_with_link(freed));
    CHECK_FALSE(with.allocations.begins_with_link(live));
}

TEST_CASE("size column: what fits in two bytes and what does not come back the same", "[snapshot][sizes]") {
    const auto of = [](std::uint64_t size, std::uint64_t memory, std::uint64_t array_data, bool damaged) {
        ObjectSizes sizes;
        sizes.size = size;
        sizes.memory = memory;
        sizes.array_data = array_data;
        sizes.damaged = damaged;
        return sizes;
    };
    const std::vector<ObjectSizes> all = {of(28, 32, 0, false),
                                          of(0, 0, 0, false),
                                          of(64, 0, 0, false),
                                          of(0, 65534 * 8, 0, false),
                                          of(524280, 65535 * 8, 0, false),
                                          of(33000, 0, 0, false),
                                          of(32768, 0, 0, false),
                                          of(0, 32768, 0, false),
                                          of(0, 32760, 0, false),
                                          of(30, 33, 0, false),
                                          of(112, 8112, 8000, false),
                                          of(48, 48, 0, true),
                                          of(1ULL << 40, 1ULL << 40, 0, false)};
    SizeColumnBuilder filled;
    for (const ObjectSizes& sizes : all) filled.add(sizes);
    const SizeColumn column = filled.finish();
    REQUIRE(column.count() == all.size());
    for (std::uint32_t i = 0; i < all.size(); ++i) {
        CHECK(column[i].size == all[i].size);
        CHECK(column[i].memory == all[i].memory);
        CHECK(column.memory(i) == all[i].memory);
        CHECK(column[i].array_data == all[i].array_data);
        CHECK(column[i].damaged == all[i].damaged);
    }
}

TEST_CASE("size column: more pairs than there are numbers for, in one go and piece by piece",
          "[snapshot][sizes]") {
    std::mt19937 random(20261205);
    std::vector<ObjectSizes> all;
    for (int i = 0; i < 150'000; ++i) {
        ObjectSizes sizes;
        sizes.memory = 8 * (random() % 60'000);
        sizes.size = sizes.memory - std::min<std::uint64_t>(sizes.memory, random() % 16);
        if (random() % 1000 == 0) sizes.array_data = sizes.memory / 2;
        all.push_back(sizes);
    }
    SizeColumnBuilder at_once, by_pieces;
    for (const ObjectSizes& sizes : all) at_once.add(sizes);
    for (std::size_t from = 0; from < all.size();) {
        SizeColumnBuilder piece;
        for (const std::size_t to = std::min(all.size(), from + 100'000 * (random() % 2) + 17); from < to;
             ++from)
            piece.add(all[from]);
        by_pieces.take(piece);
    }
    SizeColumn columns[] = {at_once.finish(), by_pieces.finish()};
    for (const SizeColumn& column : columns) {
        REQUIRE(column.count() == all.size());
        bool same = true;
        for (std::uint32_t i = 0; i < all.size(); ++i)
            same = same && column[i].size == all[i].size && column[i].memory == all[i].memory &&
                   column.memory(i) == all[i].memory && column[i].array_data == all[i].array_data;
        CHECK(same);
    }
}

TEST_CASE("regions of a core: what a cut core lacks of a stack is reserved, and not in use",
          "[snapshot][regions]") {
    constexpr std::uint64_t page = 4096;
    SmallCore small;
    const Address stack = small.heap.map(Address(0x7e0000000000), 16 * page);
    for (std::uint64_t i = 0; i < 16; ++i) small.heap.put(stack + i * page, std::uint64_t{1});
    const Mapped whole(small, nullptr, stack + 9 * page);
    const Mapped torn(small, nullptr, stack + 9 * page, 10 * page);
    REQUIRE(torn.core.extent().cut_bytes == 10 * page);
    CHECK(whole.regions.shares[MemoryOwner::stacks] == 16 * page);
    CHECK(torn.regions.shares[MemoryOwner::stacks] == 6 * page);
    CHECK(torn.regions.shares[MemoryOwner::reserved] ==
          whole.regions.shares[MemoryOwner::reserved] + 10 * page);
    CHECK(torn.regions.shares.sum() == torn.core.extent().mapped_bytes);
}
