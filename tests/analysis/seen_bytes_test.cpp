// The bytes that arrays show, compared with a bitmap.

#include "analysis/seen_bytes.h"

#include "tests/catch.h"

#include <algorithm>
#include <random>
#include <vector>

using namespace heapsift;

namespace {

struct View {
    std::uint64_t data, itemsize;
    std::vector<std::int64_t> shape, strides;
    ArrayElements elements() const { return {data, itemsize, shape, strides}; }
};

/// One element after another.
void paint(const View& view, std::vector<bool>& bitmap) {
    std::uint64_t elements = 1;
    for (const std::int64_t extent : view.shape) elements *= static_cast<std::uint64_t>(extent);
    for (std::uint64_t i = 0; i < elements; ++i) {
        auto at = static_cast<std::int64_t>(view.data);
        std::uint64_t rest = i;
        for (std::size_t d = view.shape.size(); d-- > 0;) {
            at +=
                view.strides[d] * static_cast<std::int64_t>(rest % static_cast<std::uint64_t>(view.shape[d]));
            rest /= static_cast<std::uint64_t>(view.shape[d]);
        }
        for (std::uint64_t b = 0; b < view.itemsize; ++b)
            if (at + static_cast<std::int64_t>(b) >= 0 && static_cast<std::size_t>(at) + b < bitmap.size())
                bitmap[static_cast<std::size_t>(at) + b] = true;
    }
}

std::uint64_t count_of(const ByteRange& owner, const std::vector<View>& views) {
    SeenBytes seen(owner);
    for (const View& view : views) seen.add(view.elements());
    return seen.count();
}

}  // namespace

TEST_CASE("seen bytes: what overlaps, repeats or leaves gaps", "[numpy]") {
    constexpr ByteRange owner{1000, 2000};
    CHECK(count_of(owner, {}) == 0);
    CHECK(count_of(owner, {{1000, 8, {}, {}}}) == 8);  // no dimension: one element
    CHECK(count_of(owner, {{1000, 8, {125}, {8}}}) == 1000);
    CHECK(count_of(owner, {{1992, 8, {125}, {-8}}}) == 1000);
    CHECK(count_of(owner, {{1000, 8, {10}, {16}}}) == 80);
    CHECK(count_of(owner, {{1000, 8, {1000000, 10}, {0, 8}}}) == 80);  // broadcast
    CHECK(count_of(owner, {{1000, 8, {119, 7}, {8, 8}}}) == 1000);     // sliding windows
    CHECK(count_of(owner, {{1000, 8, {0, 7}, {8, 8}}}) == 0);
    CHECK(count_of(owner, {{1000, 8, {10}, {8}}, {1040, 8, {10}, {8}}}) == 120);
    CHECK(count_of(owner, {{1000, 8, {5, 5}, {80, 8}}, {1000, 8, {5, 5}, {8, 80}}}) == 200);
    CHECK(count_of(owner, {{1996, 8, {2}, {8}}}) == 4);  // only what is the owner's
    CHECK(count_of(owner, {{992, 8, {3}, {8}}}) == 16);
}

TEST_CASE("seen bytes: any views, against a bitmap", "[numpy]") {
    std::mt19937 random(7);
    const auto number = [&](std::int64_t low, std::int64_t high) {
        return std::uniform_int_distribution<std::int64_t>(low, high)(random);
    };
    for (int round = 0; round < 3000; ++round) {
        constexpr std::uint64_t size = 600;
        std::vector<View> views;
        std::vector<bool> bitmap(size);
        for (std::int64_t i = number(1, 4); i > 0; --i) {
            View view{
                static_cast<std::uint64_t>(number(0, 599)), static_cast<std::uint64_t>(number(1, 9)), {}, {}};
            for (std::int64_t d = number(0, 4); d > 0; --d) {
                view.shape.push_back(number(1, 5));
                view.strides.push_back(number(-20, 60));
            }
            // A process cannot have an array that begins below address 0.
            std::int64_t lowest = static_cast<std::int64_t>(view.data);
            for (std::size_t d = 0; d < view.shape.size(); ++d)
                lowest += std::min<std::int64_t>(0, (view.shape[d] - 1) * view.strides[d]);
            if (lowest < 0) continue;
            views.push_back(view);
            paint(view, bitmap);
        }
        const ByteRange extent = views.empty() ? ByteRange{} : extent_of(views.front().elements());
        SeenBytes seen({0, size});
        for (const View& view : views) seen.add(view.elements());
        INFO("round " << round);
        REQUIRE(seen.count() == static_cast<std::uint64_t>(std::count(bitmap.begin(), bitmap.end(), true)));
        REQUIRE(seen.exact());
        REQUIRE(extent.begin <= extent.end);
    }
}

TEST_CASE(
    "seen bytes: a column of a long table is counted, not listed; beside another it is at most its extent",
    "[numpy]") {
    constexpr std::int64_t rows = std::int64_t{1} << 32;
    const View column{4096, 8, {rows}, {64}};
    const ByteRange owner{4096, 4096 + 64 * static_cast<std::uint64_t>(rows)};
    SeenBytes seen(owner);
    seen.add(column.elements());
    CHECK(seen.count() == 8 * static_cast<std::uint64_t>(rows));
    CHECK(seen.exact());
    const View other{4104, 8, {1}, {64}};
    seen.add(other.elements());
    CHECK(seen.count() >= 8 * static_cast<std::uint64_t>(rows) + 8);
    CHECK(seen.count() <= owner.size());
    CHECK_FALSE(seen.exact());
}

TEST_CASE("seen bytes: numbers that overflow show nothing", "[numpy]") {
    constexpr std::int64_t huge = std::int64_t{1} << 62;
    const ByteRange all{0, ~std::uint64_t{0}};
    CHECK(count_of(all, {{4096, 8, {huge, huge}, {huge, huge}}}) == 0);
    CHECK(count_of(all, {{4096, 8, {3}, {std::numeric_limits<std::int64_t>::min()}}}) == 0);
    CHECK(count_of(all, {{~std::uint64_t{0}, 8, {3}, {8}}}) == 0);
    CHECK(count_of(all, {{4096, 8, {-3}, {8}}}) == 0);
    CHECK(count_of(all, {{4096, std::uint64_t{1} << 63, {3}, {8}}}) == 0);
}
