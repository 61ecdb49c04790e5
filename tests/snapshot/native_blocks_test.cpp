// Blocks of C code in a small core: reached from an object, from other memory, from each other, or leaked; and
// words that are no pointers.

#include "parsers/reading/core_heap.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_core.h"

#include <algorithm>

using namespace heapsift;
using namespace heapsift::test;

namespace {

NativeBlocks blocks_of(SmallCore& small) {
    TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap heap =
        CoreHeap::open(CoreFile::open(directory.write("core", small.bytes()), {}, diagnostics),
                       Columns{.native = true}, diagnostics);
    return *heap.snapshot().native;
}

/// Of the blocks of one size, where the ways to them begin, as often as there are such blocks.
std::vector<ReachedFrom> reached(const NativeBlocks& blocks, std::uint64_t size) {
    std::vector<ReachedFrom> from;
    for (const NativeBlockRow& row : blocks.rows)
        if (row.size == size) from.insert(from.end(), row.count, row.from);
    std::sort(from.begin(), from.end());
    return from;
}

using From = std::vector<ReachedFrom>;
using enum ReachedFrom;

}  // namespace

TEST_CASE("native blocks: from an object of C code, and on from block to block", "[snapshot][native]") {
    SmallCore small;
    const Address type = small.heap.c_type("lxml.etree._Element", {.basicsize = 32});
    const Address element = small.heap.object(type);
    const Address node = small.heap.allocate(1000), next = small.heap.allocate(2000);
    small.heap.put(element + 16, node);
    small.heap.put(node + 8, next);
    small.heap.put(next, node);  // a ring
    const NativeBlocks blocks = blocks_of(small);
    CHECK(reached(blocks, 1000) == From{objects});
    CHECK(reached(blocks, 2008) == From{objects});
    const auto row = std::find_if(blocks.rows.begin(), blocks.rows.end(),
                                  [](const NativeBlockRow& r) { return r.size == 1000; });
    CHECK(row->example == node);
    CHECK(row->type != no_type);
}

TEST_CASE("native blocks: what no word leads to has leaked, a ring of blocks too", "[snapshot][native]") {
    SmallCore small;
    const Address memory = small.heap.map(Address(0x7c0000000000), 4096);
    const Address kept = small.heap.allocate(1000);
    const Address first = small.heap.allocate(2000), second = small.heap.allocate(3000);
    small.heap.put(memory + 64, kept);
    small.heap.put(first, second);
    small.heap.put(second + 16, first);
    const NativeBlocks blocks = blocks_of(small);
    CHECK(reached(blocks, 1000) == From{mappings});
    CHECK(reached(blocks, 2008) == From{nothing});
    CHECK(reached(blocks, 3000) == From{nothing});
    for (const NativeBlockRow& row : blocks.rows) CHECK(row.count > 0);
}

TEST_CASE("native blocks: text and numbers hold nothing; a variable does, and is told",
          "[snapshot][native]") {
    SmallCore small;
    const Address leaked = small.heap.allocate(1000), kept = small.heap.allocate(2000);
    std::string text(16, 'x');
    for (int i = 0; i < 8; ++i)
        text[static_cast<std::size_t>(i)] = static_cast<char>(leaked.value >> (8 * i));
    small.heap.bytes(text);
    const Address variable = small.heap.allocate_static(16);
    small.heap.put(variable, kept + 40);  // into the middle
    const NativeBlocks blocks = blocks_of(small);
    CHECK(reached(blocks, 1000) == From{nothing});
    CHECK(reached(blocks, 2008).size() == 1);
    CHECK(reached(blocks, 2008) != From{nothing});
}

TEST_CASE("native blocks: a word into the middle of a large block needs others", "[snapshot][native]") {
    SmallCore small;
    const Address memory = small.heap.map(Address(0x7c0000000000), 4096);
    const Address large = small.heap.allocate(100'000);
    const std::uint64_t words = GENERATE(1, 3, 4);
    for (std::uint64_t i = 0; i < words; ++i) small.heap.put(memory + 8 * i, large + 4096 * (i + 1));
    small.heap.put(memory + 512, large + 4099);  // not where a word would lie
    CHECK(reached(blocks_of(small), 100'008) == (words == 4 ? From{mappings} : From{nothing}));
}

TEST_CASE("native blocks: one that was freed is none", "[snapshot][native]") {
    SmallCore small;
    const Address freed = small.heap.allocate(1000);
    small.heap.allocate(64);
    small.give_back(freed);
    CHECK(reached(blocks_of(small), 1000).empty());
}
