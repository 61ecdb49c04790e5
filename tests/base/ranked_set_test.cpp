// Sets of numbers that tell the place of each, and columns that keep only what is not 0.

#include "parsers/base/ranked_set.h"

#include "parsers/base/sparse_column.h"
#include "tests/catch.h"

#include <cstdint>
#include <random>
#include <vector>

using namespace heapsift;

TEST_CASE("ranked set: what is in it, and how many are below", "[base]") {
    std::mt19937 random(20261203);
    for (const std::size_t bound : {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{1000}}) {
        std::vector<bool> there(bound);
        RankedSet set(bound);
        for (std::size_t i = 0; i < bound; ++i) {
            const std::size_t number = random() % bound;
            there[number] = true;
            set.add(number);
        }
        set.finish();
        std::uint32_t below = 0;
        for (std::size_t number = 0; number < bound; ++number) {
            CHECK(set.has(number) == there[number]);
            CHECK(set.rank(number) == below);
            below += there[number] ? 1 : 0;
        }
        CHECK(set.count() == below);
    }
    CHECK(RankedSet(0).count() == 0);
}

TEST_CASE("sparse column: every number comes back", "[base]") {
    std::mt19937_64 random(20261204);
    std::vector<std::uint64_t> numbers(5000);
    for (std::uint64_t& number : numbers)
        if (random() % 5 == 0) number = random() >> random() % 64;
    const SparseColumn column(numbers.size(), [&](std::size_t at) { return numbers[at]; });
    REQUIRE(column.size() == numbers.size());
    for (std::size_t at = 0; at < numbers.size(); ++at) CHECK(column[at] == numbers[at]);
    CHECK(SparseColumn().empty());
}
