// What is found of blocks by any address, against a look at each of them: also where tables and the memory of what was
// found last have one place for addresses that lie 4 or 64 GiB apart.

#include "parsers/memory/block_numbers.h"
#include "tests/catch.h"
#include "tests/memory/segment_of.h"

#include <cstring>
#include <random>
#include <vector>

using namespace heapsift;

TEST_CASE("block numbers: each address leads to the block that holds it, and to no other", "[malloc]") {
    constexpr std::uint64_t gib = std::uint64_t{1} << 30;
    const Address heap_start(0x555555560000);
    std::vector<std::byte> bytes(16 * 4096);
    std::mt19937_64 random(7);
    std::uint64_t at = 0;
    while (at + 4096 < bytes.size()) {  // chunks in use, and behind them the top
        const std::uint64_t size = 32 + 16 * (random() % (random() % 8 == 0 ? 200 : 8)), word = size | 1;
        std::memcpy(bytes.data() + at + 8, &word, 8);
        at += size;
    }
    const std::uint64_t top = (bytes.size() - at) | 1;
    std::memcpy(bytes.data() + at + 8, &top, 8);
    const AddressSpace memory({test::segment_of(heap_start, bytes)});
    const MallocHeaps heaps = MallocHeaps::find(memory);
    REQUIRE(heaps.heaps().size() == 1);

    std::vector<AddressRange> others, added;
    const auto add = [&](std::vector<AddressRange>& to, Address start, std::uint64_t first_size) {
        for (std::uint64_t size = first_size; size < 20000; size = 2 * size + 24) {
            to.push_back({start, start + size});
            start = start + size + 16 * (random() % 3);
        }
    };
    for (const std::uint64_t apart : {0 * gib, 4 * gib, 64 * gib}) {
        add(others, Address(0x7f0000000100) + apart, 24);
        add(added, Address(0x7e0000000400) + apart, 100);
    }
    const BlockNumbers numbers(heaps, others, added);

    std::vector<BlockNumbers::Block> all;
    numbers.visit([&](const BlockNumbers::Block& block) { all.push_back(block); });
    REQUIRE(all.size() == numbers.size());
    CHECK(numbers.first_apart() > 100);
    CHECK(numbers.first_other() == numbers.first_apart() + added.size());
    const auto found_right = [&](Address address) {
        const BlockNumbers::Block* holder = nullptr;
        for (const BlockNumbers::Block& block : all)
            if (address - block.start < block.bytes) holder = &block;
        const auto found = numbers.find(address);
        if (!holder || !found) return !holder && !found;
        return found->number == holder->number && found->start == holder->start &&
               found->bytes == holder->bytes;
    };
    std::size_t wrong = 0;
    for (const BlockNumbers::Block& block : all)
        for (const std::uint64_t offset : {std::uint64_t{0}, block.bytes / 2, block.bytes - 1, block.bytes})
            wrong += !found_right(block.start + offset);
    for (int i = 0; i < 20000; ++i) {
        const BlockNumbers::Block& near = all[random() % all.size()];
        wrong += !found_right(near.start + random() % 3000 + (random() % 8 == 0 ? 4 * gib : 0));
    }
    CHECK(wrong == 0);
}
