// Which findings become suspects, on heaps made by hand. (The rules for causes:
// tests/program/suspects_*_test.cpp, tests/real/suspects.py.)

#include "analysis/suspects/suspects.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t mib = 1 << 20;

std::vector<std::string> kinds_of(const HandmadeHeap& made) {
    const HandmadeReader heap = made.build();
    Work work(heap);
    const OverviewResult found = overview(work, 5);
    std::vector<std::string> kinds;
    for (const Suspect& suspect : suspects(work, found, 0).suspects) kinds.push_back(suspect.cause.kind);
    return kinds;
}

/// 100 MiB in use, so many of them free, and one object of so many bytes that nothing holds; in use, or not.
HandmadeHeap heap_with(std::uint64_t free, std::uint64_t object, std::int64_t refcount) {
    HandmadeHeap heap;
    heap.objects = {{Address(0x10100), "app.Job", facts(64, object, 0, refcount), {}, {}}};
    heap.memory = {{free_row, free}, {"Python objects", 100 * mib - free}};
    return heap;
}

}  // namespace

TEST_CASE("suspects: free memory is one where it is a quarter, and 32 MiB", "[analysis][suspects]") {
    CHECK(kinds_of(heap_with(40 * mib, 64, 0)) == std::vector<std::string>{"free-memory"});
    CHECK(kinds_of(heap_with(24 * mib, 64, 0)).empty());
    HandmadeHeap small = heap_with(0, 64, 0);
    small.memory = {{free_row, 20 * mib}, {"Python objects", 20 * mib}};
    CHECK(kinds_of(small).empty());
}

TEST_CASE("headline: free memory, where it is half, and twice as much as anything else",
          "[analysis][suspects]") {
    const auto region_of = [](const HandmadeHeap& made) {
        const HandmadeReader heap = made.build();
        Work work(heap);
        const OverviewResult found = overview(work, 5);
        const bool other = found.headline.kind == OverviewHeadline::Kind::other_memory;
        return other ? found.headline.region : std::string();
    };
    CHECK(region_of(heap_with(60 * mib, 6 * mib, 3)) == free_row);
    CHECK(region_of(heap_with(60 * mib, 6 * mib, 0)) == free_row);  // beside garbage
    CHECK(region_of(heap_with(60 * mib, 31 * mib, 3)).empty());
    CHECK(region_of(heap_with(48 * mib, 6 * mib, 3)) != free_row);
    HandmadeHeap small = heap_with(0, 64, 3);
    small.memory = {{free_row, 31 * mib}, {"Python objects", mib}};
    small.objects[0].facts.memory = mib;
    CHECK_FALSE(region_of(small) == free_row);
}

TEST_CASE(
    "suspects: a holder without a cause needs a twentieth; garbage a fiftieth, and is no holder beside it",
    "[analysis][suspects]") {
    CHECK(kinds_of(heap_with(0, 6 * mib, 3)) ==
          std::vector<std::string>{"leaked-reference"});  // held by what was not found
    CHECK(kinds_of(heap_with(0, 4 * mib, 3)).empty());
    CHECK(kinds_of(heap_with(0, 6 * mib, 0)) == std::vector<std::string>{"garbage"});
    CHECK(kinds_of(heap_with(0, 3 * mib, 0)) == std::vector<std::string>{"garbage"});
    CHECK(kinds_of(heap_with(0, mib / 2, 0)).empty());
}

TEST_CASE("suspects: the limit cuts the list, and not its sums", "[analysis][suspects]") {
    const HandmadeReader heap = heap_with(40 * mib, 6 * mib, 3).build();
    Work work(heap);
    const OverviewResult found = overview(work, 5);
    const SuspectsResult all = suspects(work, found, 0), one = suspects(work, found, 1);
    REQUIRE(all.suspects.size() == 2);
    CHECK(all.suspects[0].bytes == 40 * mib);
    CHECK(all.suspects[1].bytes == 6 * mib);
    CHECK(one.suspects.size() == 1);
    CHECK(one.total == 2);
    CHECK(one.bytes == 46 * mib);
}
