// Ascending numbers in few bytes: each comes back, whatever the gaps between them.

#include "parsers/base/ascending_column.h"

#include "tests/catch.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using namespace heapsift;

namespace {

std::vector<std::uint64_t> numbers_with_gaps(std::mt19937_64& random, std::size_t count, std::uint64_t gap) {
    std::vector<std::uint64_t> numbers;
    std::uint64_t number = random() % 100;
    for (std::size_t i = 0; i < count; ++i) {
        numbers.push_back(number);
        number += 1 + random() % (random() % 300 == 0 ? gap : 200);
    }
    return numbers;
}

template <class Column>
bool agree(const Column& column, const std::vector<std::uint64_t>& numbers) {
    return column.size() == numbers.size() && std::equal(column.begin(), column.end(), numbers.begin());
}

}  // namespace

TEST_CASE("ascending column: is what was put in, one by one and many at once", "[base]") {
    std::mt19937_64 random(20261201);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{256}, std::size_t{5000}})
        for (const std::uint64_t gap : {std::uint64_t{300}, std::uint64_t{1} << 17, std::uint64_t{1} << 40}) {
            const std::vector<std::uint64_t> numbers = numbers_with_gaps(random, count, gap);
            CHECK(agree(AscendingColumn<std::uint16_t>(numbers), numbers));
            CHECK(agree(AscendingColumn<std::uint32_t>(numbers), numbers));
            AscendingBuilder<std::uint32_t> builder, other;
            for (std::size_t at = 0; at < count;) {
                const std::size_t some = std::min<std::size_t>(count - at, random() % 700);
                if (random() % 2 == 0)
                    for (std::size_t i = at; i < at + some; ++i) builder.push_back(numbers[i]);
                else
                    builder.append(std::span(numbers).subspan(at, some));
                at += some;
            }
            CHECK(agree(builder.view(), numbers));
            other.append(builder, 0, count / 3);
            other.append(builder, count / 3, count);
            CHECK(agree(other.finish(), numbers));
            CHECK(agree(builder.finish(), numbers));
        }
}

TEST_CASE("ascending column: numbers up to the largest, and what is not in order", "[base]") {
    constexpr std::uint64_t top = ~std::uint64_t{0};
    const std::vector<std::uint64_t> numbers = {0, 5, top / 2, top / 2 + 1, top - 1, top, 3, 70'000, 2};
    const AscendingColumn<std::uint16_t> column(numbers);
    CHECK(agree(column, numbers));
    AscendingBuilder<std::uint32_t> builder;
    builder.append(numbers);
    CHECK(agree(builder.finish(), numbers));
}

TEST_CASE("ascending column: a number is found by search, and a view outlives a move", "[base]") {
    std::mt19937_64 random(20261202);
    const std::vector<std::uint64_t> numbers = numbers_with_gaps(random, 3000, std::uint64_t{1} << 36);
    AscendingColumn<std::uint32_t> column(numbers);
    const auto view = column.view();
    const AscendingColumn<std::uint32_t> moved = std::move(column);
    for (std::size_t i = 0; i < numbers.size(); i += 7) {
        const auto found = std::lower_bound(view.begin(), view.end(), numbers[i]);
        CHECK(found - view.begin() == static_cast<std::ptrdiff_t>(i));
    }
    CHECK(agree(moved, numbers));
}
