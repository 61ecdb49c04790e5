// Starts of rows in two bytes each, compared with the starts themselves.

#include "parsers/snapshot/row_starts.h"

#include "tests/catch.h"

#include <algorithm>
#include <random>
#include <vector>

using namespace heapsift;

namespace {

RowStarts starts_of(const std::vector<std::uint64_t>& all) {
    RowStartsBuilder builder;
    builder.reserve(all.size());
    for (const std::uint64_t start : all) builder.push_back(start);
    return builder.finish();
}

std::vector<std::uint64_t> random_starts(std::mt19937& random, std::size_t rows, std::uint64_t longest) {
    std::vector<std::uint64_t> all{0};
    while (all.size() < rows)
        all.push_back(all.back() + (random() % 3 == 0    ? 0
                                    : random() % 50 == 0 ? random() % longest
                                                         : random() % 4));
    return all;
}

}  // namespace

TEST_CASE("row starts: are what was put in, also beyond 2^32", "[snapshot][rows]") {
    std::mt19937 random(20261126);
    for (const std::size_t rows :
         {std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{257}, std::size_t{20'001}})
        for (const std::uint64_t longest : {std::uint64_t{10}, std::uint64_t{40'000'000}}) {
            const std::vector<std::uint64_t> all = random_starts(random, rows, longest);
            const RowStarts starts = starts_of(all);
            REQUIRE(starts.size() == rows);
            for (std::size_t row = 0; row < rows; ++row) REQUIRE(starts[row] == all[row]);
        }
}

TEST_CASE("row starts: the row of a place is the last that begins there or before", "[snapshot][rows]") {
    std::mt19937 random(20261127);
    const std::vector<std::uint64_t> all = random_starts(random, 10'000, 2000);
    const RowStarts starts = starts_of(all);
    std::size_t row = 0;
    for (std::uint64_t place = 0; place < all.back(); place += 1 + random() % 900) {
        row = starts.row_of(place, row);
        const auto above = std::upper_bound(all.begin(), all.end(), place);
        REQUIRE(row == static_cast<std::size_t>(above - all.begin()) - 1);
        REQUIRE(starts.row_of(place, 0) == row);
    }
}

TEST_CASE("row starts: entries that are taken out move all rows behind them", "[snapshot][rows]") {
    std::mt19937 random(20261128);
    std::vector<std::uint64_t> all = random_starts(random, 12'000, 3000);
    std::vector<std::uint64_t> out;
    for (std::uint64_t place = 0; place < all.back(); place += 1 + random() % 40) out.push_back(place);
    RowStartsBuilder builder;
    for (const std::uint64_t start : all) builder.push_back(start);
    const auto moved = [&](std::uint64_t start) {
        return start -
               static_cast<std::uint64_t>(std::lower_bound(out.begin(), out.end(), start) - out.begin());
    };
    builder.move_all(moved);
    const RowStarts starts = builder.finish();
    for (std::size_t row = 0; row < all.size(); ++row) REQUIRE(starts[row] == moved(all[row]));
}
