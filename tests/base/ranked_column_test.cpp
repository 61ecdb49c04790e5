// Numbers in two bytes, with the few that do not fit in four.

#include "parsers/base/ranked_column.h"

#include "tests/catch.h"

#include <cstdint>
#include <random>
#include <vector>

namespace heapsift {
namespace {

/// `large_in_100`: of a hundred numbers so many do not fit into two bytes.
std::vector<std::uint64_t> numbers(std::size_t count, std::uint32_t large_in_100) {
    std::mt19937_64 random(count + large_in_100);
    std::vector<std::uint64_t> result;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t bits = random();
        result.push_back(random() % 100 < large_in_100 ? 65535 + bits % (std::uint64_t{1} << (bits % 48))
                                                       : bits % 65535);
    }
    return result;
}

TEST_CASE("ranked column: what was put in is read, whatever part of it is large", "[base]") {
    for (const std::size_t count : {0, 1, 31, 32, 33, 1000, 4097})
        for (const std::uint32_t large : {0, 1, 20, 33, 34, 60, 100}) {
            CAPTURE(count, large);
            const std::vector<std::uint64_t> put = numbers(count, large);
            const RankedColumn column(count, [&](std::size_t at) { return put[at]; });
            REQUIRE(column.size() == count);
            CHECK(column.empty() == (count == 0));
            for (std::size_t at = 0; at < count; ++at) REQUIRE(column[at] == put[at]);
        }
}

TEST_CASE("ranked column: the numbers at the borders of two and four bytes", "[base]") {
    const std::vector<std::uint64_t> put = {0,          65534, 65535, 65536,      0,           0, 0,
                                            0,          0,     0,     0xfffffffe, 0,           0, 0,
                                            0xffffffff, 0,     0,     0,          0x100000000, 0, 1};
    const RankedColumn column(put.size(), [&](std::size_t at) { return put[at]; });
    for (std::size_t at = 0; at < put.size(); ++at) CHECK(column[at] == put[at]);
}

TEST_CASE("ranked column: takes a little more than two bytes where few are large, and four where many are",
          "[base]") {
    constexpr std::size_t count = 1'000'000;
    const auto bytes = [&](std::size_t one_in) {
        return RankedColumn(count, [&](std::size_t at) { return at % one_in == 0 ? 1'000'000 : at % 1000; })
            .memory_bytes();
    };
    CHECK(bytes(1000) < count * 9 / 4 + 100'000);
    CHECK(bytes(1) <= count * 4 + 100);
    CHECK(bytes(2) <= count * 4 + 100);
}

}  // namespace
}  // namespace heapsift
