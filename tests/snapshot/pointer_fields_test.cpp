// How much a word is believed by where it leads.

#include "parsers/snapshot/pointer_fields.h"
#include "tests/catch.h"
#include "tests/elf/core_writer.h"
#include "tests/elf/temporary_directory.h"

#include <cstring>
#include <optional>
#include <string>

using namespace heapsift;
using namespace heapsift::test;

namespace {

/// Blocks of one size after another, as malloc has them, and what is told of their words.
struct SmallBlocks {
    static constexpr std::uint64_t begin = 0x7f0000010000;

    SmallBlocks(std::uint32_t count, std::uint64_t size)
        : count(count), size(size), memory(count * (size + 8), 0) {}

    std::uint64_t start(std::uint32_t block) const { return begin + block * (size + 8); }
    void put(std::uint32_t block, std::uint64_t word, std::uint64_t value) {
        std::memcpy(memory.data() + (start(block) - begin) + 8 * word, &value, 8);
    }
    std::optional<BlockNumbers::Block> find(std::uint64_t word) const {
        if (word < begin || word >= start(count)) return std::nullopt;
        const auto number = static_cast<std::uint32_t>((word - begin) / (size + 8));
        return BlockNumbers::Block{number, Address(start(number)), size};
    }
    /// Of a word of one of them, which leads to the start of another.
    Belief belief(std::uint32_t block, std::uint64_t word, std::uint32_t target) {
        const TemporaryDirectory directory;
        Diagnostics diagnostics;
        CoreWriter writer;
        writer.process(100, "python3", "python3 app.py").thread(100, 0);
        writer.load(begin, memory);
        const CoreFile core = CoreFile::open(directory.write("core", writer.bytes()), {}, diagnostics);
        PointerFields fields(core);
        const auto all = [&](const auto& visit) {
            for (std::uint32_t i = 0; i < count; ++i)
                visit(BlockNumbers::Block{i, Address(start(i)), size},
                      core.memory().view(Address(start(i)), size));
        };
        const auto finder = [this](std::uint64_t value) { return find(value); };
        all([&](const auto& one, auto bytes) { fields.count(one, bytes); });
        all([&](const auto& one, auto bytes) { fields.learn(one, bytes, finder); });
        fields.finish();
        const BlockNumbers::Block source = *find(start(block));
        const auto of_block = fields.fields_of(source, core.memory().view(source.start, size), finder);
        return fields.belief(of_block, word, start(target), *find(start(target)), 0);
    }

    std::uint32_t count;
    std::uint64_t size;
    std::string memory;
};

}  // namespace

TEST_CASE("pointer fields: a low word into a block counts where the data behind a line of the cache begin",
          "[snapshot][native]") {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreWriter writer;
    writer.process(100, "python3", "python3 app.py").thread(100, 0);
    writer.load(0x10000, std::string(4096, 1));
    const CoreFile core = CoreFile::open(directory.write("core", writer.bytes()), {}, diagnostics);
    const PointerFields fields(core);
    const auto belief = [&](std::uint64_t start, std::uint64_t bytes, std::uint64_t word) {
        return fields.belief(word, BlockNumbers::Block{0, Address(start), bytes}, word - start);
    };
    CHECK(belief(0x20000020, 1000, 0x20000040) == Belief::alone);
    CHECK(belief(0x200007a0, 1000, 0x20000800) == Belief::alone);
    CHECK(belief(0x20000720, 1000, 0x20000780) == Belief::alone);
    CHECK(belief(0x20000720, 1000, 0x200007c0) == Belief::none);  // the line behind that
    CHECK(belief(0x20000020, 1000, 0x20000048) == Belief::none);  // no line begins there
    CHECK(belief(0x20000020, 200, 0x20000040) == Belief::none);   // too small to be aligned
    CHECK(belief(0x20000020, 1000, 0x20000020) == Belief::field);
    CHECK(belief(0x20000030, 9000, 0x20001000) == Belief::alone);  // a page's data, with room before them
    CHECK(belief(0x20000030, 6000, 0x20001000) == Belief::none);   // too small for a page that is aligned
    CHECK(belief(0x20000030, 90000, 0x20002000) == Belief::none);  // the page behind that
}

TEST_CASE("pointer fields: the last word of a block is a pointer if it is one in many blocks",
          "[snapshot][native]") {
    SmallBlocks blocks(200, 40);
    const std::uint64_t word = GENERATE(3, 4);
    const bool is_last = word == 4;
    SECTION("in few: what was there before") {
        for (std::uint32_t i = 0; i < 10; ++i) blocks.put(i, word, blocks.start(i + 50));
        CHECK(blocks.belief(3, word, 53) == (is_last ? Belief::alone : Belief::field));
    }
    SECTION("in many, among numbers") {
        for (std::uint32_t i = 0; i < 100; ++i)
            blocks.put(i, word, i % 5 == 0 ? blocks.start(i + 50) : 0x123456789abc);
        CHECK(blocks.belief(5, word, 55) == (is_last ? Belief::alone : Belief::field));
    }
    SECTION("in many") {
        for (std::uint32_t i = 0; i < 100; ++i) blocks.put(i, word, blocks.start(i + 50));
        CHECK(blocks.belief(3, word, 53) == Belief::field);
    }
}

TEST_CASE("pointer fields: behind the elements of a vector is what was there before", "[snapshot][native]") {
    SmallBlocks blocks(20, 104);
    const std::uint64_t elements = GENERATE(0, 3, 12), vector = blocks.start(7);
    for (std::uint64_t word = 0; word < 12; ++word) blocks.put(7, word, blocks.start(9));
    const auto expected = [&](std::uint64_t word) {
        return word < elements ? Belief::field : Belief::anywhere;
    };
    SECTION("from its first word to its last") {
        blocks.put(2, 4, vector);
        blocks.put(2, 5, vector + 8 * elements);
        blocks.put(2, 6, vector + 96);
        CHECK(blocks.belief(7, 2, 9) == expected(2));
        CHECK(blocks.belief(7, 3, 9) == expected(3));
        CHECK(blocks.belief(7, 11, 9) == expected(11));
    }
    SECTION("of two ends the farther one") {
        blocks.put(2, 4, vector);
        blocks.put(2, 5, vector + 8 * elements);
        blocks.put(2, 6, vector + 96);
        blocks.put(3, 0, vector);
        blocks.put(3, 1, vector + 32);
        blocks.put(3, 2, vector + 96);
        CHECK(blocks.belief(7, 3, 9) == Belief::field);
        CHECK(blocks.belief(7, 11, 9) == expected(11));
    }
    SECTION("no vector: its room ends long before the block does, or behind it") {
        blocks.put(2, 4, vector);
        blocks.put(2, 5, vector);
        blocks.put(2, 6, vector + GENERATE(72, 112));
        CHECK(blocks.belief(7, 3, 9) == Belief::field);
    }
    SECTION("no vector: the iterator of a deque") {
        blocks.put(5, 1, vector);  // its table of nodes
        blocks.put(2, 4, vector);
        blocks.put(2, 5, vector);
        blocks.put(2, 6, vector + 96);
        blocks.put(2, 7, blocks.start(5) + 8);
        CHECK(blocks.belief(7, 3, 9) == Belief::field);
    }
}
