// Marked words, compared with a list of them.

#include "parsers/snapshot/block_words.h"

#include "tests/catch.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

using namespace heapsift;

TEST_CASE("block words: each block has its own, in order, wherever it begins among the bits",
          "[snapshot][native]") {
    std::mt19937 random(20261129);
    using Words = std::vector<std::pair<std::size_t, std::uint64_t>>;
    std::vector<std::vector<std::byte>> bytes;
    std::vector<Words> marked;
    BlockWords words;
    for (const std::size_t size : {0, 1, 63, 0, 64, 65, 3, 128, 1, 70'000, 0, 5}) {
        words.add_block(size);
        bytes.emplace_back(8 * size);
        marked.emplace_back();
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint64_t value = random();
            std::memcpy(bytes.back().data() + 8 * i, &value, 8);
            if (random() % 3 != 0 && i + 1 != size && i != 0) continue;
            words.mark(i);
            marked.back().emplace_back(i, value);
        }
    }
    CHECK(words.size() == marked.size());
    words.finish();
    for (std::uint32_t number = 0; number < marked.size(); ++number) {
        Words visited;
        words.visit(number, bytes[number],
                    [&](std::size_t index, std::uint64_t word) { visited.emplace_back(index, word); });
        CAPTURE(number);
        CHECK(visited == marked[number]);
    }
}
