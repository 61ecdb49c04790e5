// The last word that is not 0: compared with a look at each, for words of all densities and lengths.

#include "parsers/memory/nonzero_words.h"

#include "tests/catch.h"

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

using namespace heapsift;

TEST_CASE("nonzero words: the last below each place, as one finds it who looks at all", "[memory]") {
    const std::size_t count = GENERATE(0, 1, 63, 64, 65, 4095, 4096, 4097, 20'000);
    const unsigned one_in = GENERATE(1, 3, 100, 5000, 1'000'000);
    std::mt19937 random(static_cast<unsigned>(count) + one_in);
    std::vector<std::uint64_t> words(count);
    for (std::uint64_t& word : words)
        if (random() % one_in == 0) word = random() | 1;
    const NonzeroWords nonzero(words);
    std::optional<std::size_t> expected;
    bool equal = true;
    for (std::size_t i = 0; i <= count; ++i) {
        equal = equal && nonzero.last_below(i) == expected;
        if (i < count && words[i] != 0) expected = i;
    }
    CHECK(equal);
    CHECK_FALSE(nonzero.last_below(0));
}

TEST_CASE("nonzero words: of none there is none", "[memory]") { CHECK_FALSE(NonzeroWords().last_below(0)); }
