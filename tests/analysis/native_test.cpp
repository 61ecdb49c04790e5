// Blocks of C code as rows: by size, by class; and the first sentence about them.

#include "analysis/native.h"
#include "analysis/memory.h"
#include "analysis/native_classes.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

NativeBlockRow row(std::uint64_t size, std::uint64_t count, Address table, ReachedFrom from,
                   Address example) {
    NativeBlockRow made;
    made.size = size;
    made.count = count;
    made.table = table;
    made.from = from;
    made.example = example;
    return made;
}

HandmadeReader with_blocks(std::vector<NativeBlockRow> rows) {
    HandmadeHeap made;
    made.memory = {{c_code_row, 900}, {"Python objects", 100}, {"reserved", 5000, MemoryUse::reserved}};
    made.native = std::move(rows);
    return made.build();
}

}  // namespace

TEST_CASE("native: sizes are summed over classes, classes over sizes", "[analysis][native]") {
    const Address table(0x7f0000001000), none;
    using enum ReachedFrom;
    HandmadeHeap made;
    made.native = {row(24, 10, table, nothing, Address(0x9000)), row(24, 2, none, stacks, Address(0x9100)),
                   row(40, 1, table, python_tables, Address(0x9200)),
                   row(1000, 1, none, mappings, Address(0x9300))};
    const HandmadeReader heap = made.build();
    const NativeResult result = native(heap, {});
    CHECK(result.count == 14);
    CHECK(result.bytes == 12 * 24 + 40 + 1000);
    CHECK(result.of_classes == 10 * 24 + 40);
    CHECK(result.leaked_count == 10);
    CHECK(result.leaked_bytes == 240);
    CHECK(result.python_bytes == 40);
    REQUIRE(result.sizes.size() == 3);
    CHECK(result.sizes[0].size == 1000);
    CHECK(result.sizes[0].of_class.empty());
    CHECK(result.sizes[0].held == NativeHeld{0, 0, 0, "memory without a known owner", 1, false});
    CHECK(result.sizes[1].size == 24);
    CHECK(result.sizes[1].count == 12);
    CHECK(result.sizes[1].example == Address(0x9000));
    CHECK(result.sizes[1].of_class == "0x7f0000001000");  // no module has it
    CHECK(result.sizes[1].held == NativeHeld{10, 0, 0, "a stack or register", 2, false});
    REQUIRE(result.classes.size() == 1);
    CHECK(result.classes[0].count == 11);
    CHECK(result.classes[0].smallest == 24);
    CHECK(result.classes[0].largest == 40);
    CHECK(result.classes[0].held == NativeHeld{10, 0, 1, "Python's own tables", 1, false});
    CHECK(native(heap, {.limit = 1}).sizes.size() == 1);
    CHECK(native(heap, {.limit = 1}).size_count == 3);
    const NativeResult leaked = native(heap, {.leaked_only = true});
    REQUIRE(leaked.sizes.size() == 1);
    CHECK(leaked.sizes[0].count == 10);
    CHECK(leaked.count == 14);
}

TEST_CASE("native: the culprit has half of the bytes, and a class goes before a size", "[analysis][native]") {
    const Address table(0x7f0000001000), none;
    using enum ReachedFrom;
    const auto of_class = native_culprit(with_blocks(
        {row(24, 10, table, nothing, Address(0x9000)), row(8, 2, none, stacks, Address(0x9100))}));
    REQUIRE(of_class);
    CHECK(of_class->of_class == "0x7f0000001000");
    CHECK(of_class->size == 24);
    CHECK(of_class->held.leaked == 10);
    const auto of_size = native_culprit(with_blocks(
        {row(240, 10, none, mappings, Address(0x9000)), row(8, 2, table, nothing, Address(0x9100))}));
    REQUIRE(of_size);
    CHECK(of_size->of_class.empty());
    CHECK(of_size->count == 10);
    CHECK(of_size->held.by_count == 10);
    CHECK_FALSE(
        native_culprit(with_blocks({row(8, 3, none, stacks, Address(1)), row(9, 3, none, stacks, Address(2)),
                                    row(10, 3, none, stacks, Address(3))})));
    CHECK_FALSE(native_culprit(with_blocks({})));
}

TEST_CASE("native: what leaked is the culprit together, where no class and no size has half of it",
          "[analysis][native]") {
    const Address table(0x7f0000001000), none;
    using enum ReachedFrom;
    const auto mixed = native_culprit(with_blocks(
        {row(24, 10, table, nothing, Address(0x9000)), row(8, 25, none, nothing, Address(0x9100)),
         row(220, 1, none, nothing, Address(0x9200)), row(16, 20, none, stacks, Address(0x9300))}));
    REQUIRE(mixed);
    CHECK(mixed->mixed);
    CHECK(mixed->count == 36);
    CHECK(mixed->bytes == 660);
    CHECK(mixed->held.leaked == 36);
    CHECK(mixed->of_class == "0x7f0000001000");
    CHECK(mixed->largest_count == 10);
    CHECK(mixed->example == Address(0x9000));
    const auto of_sizes = native_culprit(
        with_blocks({row(24, 8, table, nothing, Address(0x9000)), row(8, 25, none, nothing, Address(0x9100)),
                     row(220, 1, none, nothing, Address(0x9200))}));
    REQUIRE(of_sizes);
    CHECK(of_sizes->of_class.empty());
    CHECK(of_sizes->size == 220);
    CHECK(of_sizes->largest_count == 1);
    // A quarter of it leaked at least.
    const auto with_stacks = [&](std::uint64_t blocks) {
        return native_culprit(with_blocks(
            {row(8, 3, none, nothing, Address(1)), row(9, 3, none, nothing, Address(2)),
             row(20, blocks, none, stacks, Address(3)), row(21, blocks, none, stacks, Address(4))}));
    };
    REQUIRE(with_stacks(3));
    CHECK(with_stacks(3)->bytes == 51);
    CHECK_FALSE(with_stacks(4));
}

TEST_CASE("native: what one variable leads to is the culprit together, where it is more than a size has",
          "[analysis][native]") {
    const Address none, kept(0x7f0000002000);
    using enum ReachedFrom;
    const auto from = [&](Address variable, std::uint64_t size, std::uint64_t count) {
        NativeBlockRow made = row(size, count, none, modules, Address(0x9000));
        made.word = variable;
        return made;
    };
    const auto of_sizes = native_culprit(
        with_blocks({from(kept, 40, 10), from(kept, 56, 10), row(72, 9, none, stacks, Address(2)),
                     row(8, 3, none, stacks, Address(1))}));
    REQUIRE(of_sizes);
    CHECK(of_sizes->mixed);
    CHECK(of_sizes->bytes == 960);
    CHECK(of_sizes->count == 20);
    CHECK(of_sizes->held.leaked == 0);
    CHECK(of_sizes->held.by_count == 20);
    CHECK(of_sizes->size == 56);
    CHECK(of_sizes->largest_count == 10);
    // More than the size that has half by itself; not what is found from elsewhere.
    const auto more = native_culprit(
        with_blocks({from(kept, 56, 10), from(kept, 40, 5), row(8, 3, none, stacks, Address(1))}));
    REQUIRE(more);
    CHECK(more->bytes == 760);
    const auto not_more =
        native_culprit(with_blocks({from(kept, 56, 10), row(40, 5, none, stacks, Address(2))}));
    REQUIRE(not_more);
    CHECK_FALSE(not_more->mixed);
    CHECK(not_more->bytes == 560);
}

TEST_CASE("memory: sums by what they count as", "[analysis][native]") {
    const MemoryResult result = memory(with_blocks({}), true);
    CHECK(result.in_use == 1000);
    CHECK(result.reserved == 5000);
    CHECK(result.mappings.empty());
    CHECK_FALSE(result.culprit);
}

TEST_CASE("native: symbols are demangled, unless that could go on for ever", "[analysis][native]") {
    CHECK(symbol_words("_ZN6shapes4keptE") == "shapes::kept");
    CHECK(symbol_words("cache") == "cache");
    CHECK(symbol_words("_ZN6sha pes4keptE") == "_ZN6sha pes4keptE");
    std::string bomb = "_Z1fI1aE1bI1cE";
    for (int i = 0; i < 40; ++i) bomb += "1dIS0_S0_E";
    CHECK(symbol_words(bomb) == bomb);
    CHECK(symbol_words("_Z" + std::string(5000, 'P') + "i") == "_Z" + std::string(5000, 'P') + "i");
}

TEST_CASE("native: blocks one by one, the largest first, and as many as are asked for",
          "[analysis][native]") {
    const Address table(0x7f0000001000), none;
    using enum ReachedFrom;
    HandmadeHeap made;
    made.native = {row(24, 3, table, nothing, Address(0x90000)), row(1000, 1, none, stacks, Address(0xa0000)),
                   row(24, 2, none, numbers, Address(0x80000))};
    const HandmadeReader heap = made.build();
    const NativeList all = native_list(heap, {});
    CHECK(all.total_count == 6);
    CHECK(all.total_bytes == 5 * 24 + 1000);
    CHECK(all.blocks == std::vector{Address(0xa0000), Address(0x90000), Address(0x91000), Address(0x92000),
                                    Address(0x80000), Address(0x81000)});
    CHECK(all.rows == std::vector<std::uint32_t>{1, 0, 0, 0, 2, 2});
    const NativeList cut = native_list(heap, {.limit = 2});
    CHECK(cut.blocks == std::vector{Address(0xa0000), Address(0x90000)});
    CHECK(cut.total_count == 6);
    const NativeList leaked = native_list(heap, {.leaked_only = true});
    CHECK(leaked.rows == std::vector<std::uint32_t>{0, 0, 0, 2, 2});
    CHECK(leaked.total_count == 5);

    NativeListReader reader(heap);
    const NativeListRow of_class = reader.row(Address(0x91000), 0);
    CHECK(of_class.address == Address(0x91000));
    CHECK(of_class.bytes == 24);
    CHECK(of_class.of_class == "0x7f0000001000");
    CHECK(of_class.leaked == true);
    CHECK(of_class.held_by.empty());
    CHECK_FALSE(of_class.by_number);
    CHECK(reader.row(Address(0xa0000), 1).held_by == "a stack or register");
    CHECK(reader.row(Address(0xa0000), 1).leaked == false);
    CHECK(reader.row(Address(0x80000), 2).by_number);
    CHECK(reader.row(Address(0x80000), 2).leaked == true);

    const std::vector<NativeContent> contents = native_contents(heap, {});
    REQUIRE(contents.size() == 1);  // none of them can be read
    CHECK(contents[0].count == 6);
    CHECK(contents[0].bytes == 5 * 24 + 1000);
    CHECK(contents[0].leaked == 5);
    CHECK(native_contents(heap, {.leaked_only = true})[0].count == 5);
}
