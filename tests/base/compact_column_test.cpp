// Numbers that are nearly all small: those that are not come back whole, counted up and down too.

#include "parsers/base/compact_column.h"

#include "parsers/base/compact_counts.h"
#include "tests/catch.h"

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using namespace heapsift;

TEST_CASE("compact column: every number comes back", "[base]") {
    const std::vector<std::uint64_t> numbers = {
        0, 1, 254, 255, 256, 7, std::numeric_limits<std::uint64_t>::max(), 3, 255};
    CompactColumn<std::uint8_t>::Builder bytes;
    CompactColumn<std::uint32_t>::Builder words;
    for (const std::uint64_t number : numbers) {
        bytes.push_back(number);
        words.push_back(number << 24);
    }
    const CompactColumn<std::uint8_t> column = bytes.finish();
    const CompactColumn<std::uint32_t> large = words.finish();
    REQUIRE(column.size() == numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        CHECK(column[i] == numbers[i]);
        CHECK(large[i] == numbers[i] << 24);
    }
    CHECK(CompactColumn<std::uint8_t>().empty());
}

TEST_CASE("compact column: numbers from their halves, and parts of another column", "[base]") {
    const std::vector<std::uint64_t> numbers = {
        0, 0xfffffffe, 0xffffffff, 0x100000000, 17, std::numeric_limits<std::uint64_t>::max(), 1};
    std::vector<std::uint32_t> lower, upper;
    CompactColumn<std::uint32_t>::Builder all, parts;
    for (const std::uint64_t number : numbers) {
        lower.push_back(static_cast<std::uint32_t>(number));
        upper.push_back(static_cast<std::uint32_t>(number >> 32));
        all.push_back(number);
    }
    const CompactColumn<std::uint32_t> halves(std::move(lower), upper);
    parts.append(all, 3, 6);
    parts.append(all, 0, numbers.size());
    REQUIRE(parts.size() == 3 + numbers.size());
    CHECK(parts[1] == 17);
    const CompactColumn<std::uint32_t> joined = parts.finish();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        CHECK(halves[i] == numbers[i]);
        CHECK(joined[3 + i] == numbers[i]);
    }
    CHECK(joined[0] == numbers[3]);
    CHECK(joined[2] == numbers[5]);
    const CompactColumn<std::uint32_t> small(std::vector<std::uint32_t>{1, 0xfffffffe});
    CHECK(small[1] == 0xfffffffe);
}

TEST_CASE("compact counts: as many as were counted, up and down", "[base]") {
    constexpr std::size_t count = 50;
    std::vector<std::uint64_t> expected(count);
    CompactCounts counts(count);
    std::mt19937 chance(7);
    for (int i = 0; i < 200'000; ++i) {
        const std::size_t at = chance() % 7 == 0 ? chance() % count : chance() % 3;
        if (chance() % 3 == 0 && expected[at] > 0) {
            --expected[at];
            counts.decrement(at);
        } else {
            ++expected[at];
            counts.increment(at);
        }
    }
    for (int i = 0; i < 300; ++i) counts.increment(40);
    expected[40] += 300;
    while (expected[0] > 255) {  // down across the border
        --expected[0];
        counts.decrement(0);
    }
    for (std::size_t at = 0; at < count; ++at) CHECK(counts[at] == expected[at]);
    const CompactColumn<std::uint8_t> column = counts.finish();
    REQUIRE(column.size() == count);
    for (std::size_t at = 0; at < count; ++at) CHECK(column[at] == expected[at]);
    CHECK(expected[1] > 256);
}
