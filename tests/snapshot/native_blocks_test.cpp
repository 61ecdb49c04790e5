// Blocks of C code in a small core: reached from an object, from other memory, from each other, or leaked; and
// words that are no pointers.

#include "parsers/reading/core_heap.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/snapshot/small_torch.h"

#include <algorithm>
#include <map>

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct Rows {
    std::vector<NativeBlockRow> rows;
};

Rows blocks_of(SmallCore& small) {
    TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap heap =
        CoreHeap::open(CoreFile::open(directory.write("core", small.bytes()), {}, diagnostics),
                       Columns{.native = true}, diagnostics);
    return {heap.snapshot().native->rows};
}

/// Of the blocks of one size, where the ways to them begin, as often as there are such blocks.
std::vector<ReachedFrom> reached(const Rows& blocks, std::uint64_t size) {
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
    const Rows blocks = blocks_of(small);
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
    const Rows blocks = blocks_of(small);
    CHECK(reached(blocks, 1000) == From{mappings});
    CHECK(reached(blocks, 2008) == From{nothing});
    CHECK(reached(blocks, 3000) == From{nothing});
    for (const NativeBlockRow& row : blocks.rows) CHECK(row.count > 0);
}

TEST_CASE("native blocks: one by one, each with its row", "[snapshot][native]") {
    SmallCore small;
    const Address memory = small.heap.map(Address(0x7c0000000000), 4096);
    const Address kept = small.heap.allocate(1000), leaked = small.heap.allocate(1000);
    small.heap.put(memory + 64, kept);
    TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreHeap heap =
        CoreHeap::open(CoreFile::open(directory.write("core", small.bytes()), {}, diagnostics),
                       Columns{.native = true}, diagnostics);
    const NativeBlocks& native = *heap.snapshot().native;
    std::map<std::uint64_t, ReachedFrom> found;
    std::uint64_t count = 0;
    heap.visit_native_blocks([&](Address start, std::uint32_t row) {
        ++count;
        if (native.rows[row].size == 1000) found[start.value] = native.rows[row].from;
    });
    CHECK(count == native.count);
    CHECK(found == std::map<std::uint64_t, ReachedFrom>{{kept.value, mappings}, {leaked.value, nothing}});
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
    const Rows blocks = blocks_of(small);
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

TEST_CASE("native blocks: the text of a short std::string holds nothing", "[snapshot][native]") {
    SmallCore small;
    const Address type = small.heap.c_type("lxml.etree._Element", {.basicsize = 32});
    const Address element = small.heap.object(type);
    const Address node = small.heap.allocate(1000), other = small.heap.allocate(2000);
    const std::uint64_t length = GENERATE(0, 6, 13, 16);
    const std::uint64_t word = GENERATE(0, 8);
    // What has zeros among its 13 characters is no text.
    const bool is_text = length < 13 || (length == 13 && word == 8);
    small.heap.put(element + 16, node);
    small.heap.put(node + 64, node + 80);
    small.heap.put(node + 72, length);
    small.heap.put(node + 80 + word, other);
    CHECK(reached(blocks_of(small), 2008) == (is_text ? From{nothing} : From{objects}));
}

TEST_CASE("native blocks: an int is a handle in an attribute of an instance, and a number in a list",
          "[snapshot][native]") {
    SmallCore small;
    const Address handle = small.heap.allocate(1000), part = small.heap.allocate(2000),
                  other = small.heap.allocate(3000);
    small.heap.put(handle + 8, part);
    small.heap.put(small.instance + 16 + *small.heap.layout().dict_values.values,
                   small.heap.integer(static_cast<std::int64_t>(handle.value)));
    small.heap.list({small.heap.integer(static_cast<std::int64_t>(other.value))});
    const Rows blocks = blocks_of(small);
    CHECK(reached(blocks, 1000) == From{objects});
    CHECK(reached(blocks, 2008) == From{objects});
    CHECK(reached(blocks, 3000) == From{numbers});
}

TEST_CASE("native blocks: a handle has to be the start of a block", "[snapshot][native]") {
    SmallCore small;
    const Address block = small.heap.allocate(1000);
    small.heap.put(small.instance + 16 + *small.heap.layout().dict_values.values,
                   small.heap.integer(static_cast<std::int64_t>(block.value + 8)));
    CHECK(reached(blocks_of(small), 1000) == From{nothing});
}

TEST_CASE("native blocks: a count of references is no address", "[snapshot][native]") {
    SmallCore small;
    const Address type = small.heap.c_type("lxml.etree._Element", {.basicsize = 32});
    const Address element = small.heap.object(type);
    const Address block = small.heap.allocate(1000);
    small.heap.put(element + *small.heap.layout().object.ob_refcnt, block);
    CHECK(reached(blocks_of(small), 1000) == From{nothing});
}

TEST_CASE(
    "native blocks: behind the fields of a type with items of a byte may be anything, behind larger ones "
    "numbers",
    "[snapshot][native]") {
    SmallCore small;
    const std::int64_t item = GENERATE(1, 4);
    const Address type = small.heap.c_type("chem.Molecule", {.basicsize = 48, .itemsize = item});
    const Address molecule = small.heap.object(type, 48 / item);
    const Address atoms = small.heap.allocate(1000);
    small.heap.put(molecule + 64, atoms);
    CHECK(reached(blocks_of(small), 1000) == (item == 1 ? From{objects} : From{nothing}));
}

TEST_CASE("native blocks: a weak reference's hash is no address", "[snapshot][native]") {
    SmallCore small;
    const Address block = small.heap.allocate(1000);
    const Address reference =
        small.heap.object(small.heap.c_type("weakref.ReferenceType", {.basicsize = 64}));
    const auto& layout = small.heap.layout().weakref;
    const bool is_hash = GENERATE(true, false);
    small.heap.put(reference + *layout.wr_callback + (is_hash ? 8 : 16), block);
    CHECK(reached(blocks_of(small), 1000) == (is_hash ? From{nothing} : From{objects}));
}

TEST_CASE("native blocks: what was in a lock's block before it leads nowhere", "[snapshot][native]") {
    SmallCore small;
    const bool has_lock = GENERATE(true, false);
    const Address type =
        small.heap.c_type(has_lock ? "_io.BufferedWriter" : "_io.BufferedFriend", {.basicsize = 160});
    const Address file = small.heap.object(type);
    const Address lock = small.heap.allocate(24), stale = small.heap.allocate(1000);
    small.heap.put(file + 80, lock);
    small.heap.put(lock, stale);
    const Rows blocks = blocks_of(small);
    CHECK(reached(blocks, 24) == From{objects});
    CHECK(reached(blocks, 1000) == (has_lock ? From{nothing} : From{objects}));
}

TEST_CASE("native blocks: what Python keeps for reuse; a dead object of C code was not freed",
          "[snapshot][native]") {
    SmallCore small;
    const bool is_python = GENERATE(true, false);
    const Address type =
        is_python ? small.heap.builtin("list") : small.heap.c_type("lxml.etree._Element", {.basicsize = 32});
    const Address block = small.heap.allocate(1000), stale = small.heap.allocate(2000);
    const Address object = block + (is_python ? 16 : 0);  // behind the collector's header
    small.heap.put(object + 8, type);
    small.heap.put(object + 64, stale);
    const Rows blocks = blocks_of(small);
    CHECK(reached(blocks, 1000) == (is_python ? From{python_tables} : From{nothing}));
    CHECK(reached(blocks, 2008) == From{nothing});
}

TEST_CASE("native blocks: an emptied list still has a block", "[snapshot][native]") {
    SmallCore small;
    const Address block = small.heap.allocate(1000);
    const Address list = small.heap.list({});
    small.heap.set(list, small.heap.layout().list.ob_item, block);
    CHECK(reached(blocks_of(small), 1000).empty());
}

TEST_CASE("native blocks: what a deque no longer holds is still in its block, and held by nothing",
          "[snapshot][native]") {
    SmallCore small;
    const auto& layout = small.heap.layout();
    const Address deque = small.heap.object(small.heap.c_type("collections.deque", {.basicsize = 80}));
    const Address items = small.heap.allocate(*layout.deque_block.size), dropped = small.heap.allocate(1000);
    small.heap.set(deque, layout.deque.leftblock, items);
    small.heap.set(deque, layout.deque.rightblock, items);
    small.heap.put(items + *layout.deque_block.data + 8 * 31, dropped);
    CHECK(reached(blocks_of(small), 1000) == From{nothing});
}

TEST_CASE("native blocks: an object in a library's data that nothing refers to is no variable",
          "[snapshot][native]") {
    SmallTorch torch;  // its library
    auto& heap = torch.small.heap;
    const Address bytes = torch.table + 256, block = heap.allocate(1000);
    const std::uint64_t word = GENERATE(4, 5, 8, 13);
    heap.put(bytes, std::uint64_t{1'000'000'003});
    heap.put(bytes + 8, heap.builtin("bytes"));
    heap.put(bytes + 16, std::uint64_t{64});
    heap.put(bytes + 8 * word, block);  // its data are words 4 to 11, and an end
    CHECK(reached(blocks_of(torch.small), 1000) == (word == 13 ? From{modules} : From{nothing}));
}
