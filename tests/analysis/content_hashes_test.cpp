// Which arrays are the same value.

#include "analysis/content_hashes.h"
#include "tests/analysis/handmade_arrays.h"
#include "tests/catch.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t first_data = handmade_arrays::data_start;

struct Hashed {
    explicit Hashed(ArrayHeap& arrays) : heap(arrays.build()), hashes(content_hashes(heap)) {}

    ObjectId id(std::uint64_t address) const { return heap.snapshot().find(Address(address)); }
    std::uint64_t of(std::uint64_t address) const { return hashes.of(id(address)); }
    bool equal(std::uint64_t one, std::uint64_t other) const {
        std::uint64_t pairs = 100;
        return have_equal_content(heap, hashes, id(one), id(other), pairs);
    }

    HandmadeReader heap;
    ContentHashes hashes;
};

}  // namespace

TEST_CASE("content hashes: arrays of equal dtype, shape and bytes are one value", "[analysis][duplicates]") {
    ArrayHeap arrays;
    const auto one = arrays.array(first_data, {4, 8}, {64, 8}),
               two = arrays.array(first_data + 0x1000, {4, 8}, {64, 8}),
               flat = arrays.array(first_data + 0x2000, {32}, {8}),
               turned = arrays.array(first_data + 0x3000, {4, 8}, {8, 32}),
               longer = arrays.array(first_data + 0x4000, {33}, {8});
    const Hashed hashed(arrays);
    CHECK(hashed.of(one) != ContentHashes::none);
    CHECK(hashed.of(one) == hashed.of(two));
    CHECK(hashed.equal(one, two));
    for (const std::uint64_t other : {flat, turned, longer}) {
        CHECK(hashed.of(other) != ContentHashes::none);
        CHECK(hashed.of(one) != hashed.of(other));
        CHECK_FALSE(hashed.equal(one, other));
    }
    CHECK(hashed.hashes.unread() == 0);
    CHECK(hashed.hashes.count() == 5);
}

TEST_CASE("content hashes: a view is no value, and what is not in the core is not read",
          "[analysis][duplicates]") {
    ArrayHeap arrays;
    const auto owner = arrays.array(first_data, {4}, {8}), view = arrays.array(first_data, {4}, {8}, owner),
               lent = arrays.lent_array(first_data, {4}, {8}), away = arrays.array(0x7000'0000, {4}, {8}),
               torn = arrays.array(first_data + 0xff00, {64}, {8}),
               absurd = arrays.array(first_data, {std::int64_t{1} << 30}, {8});
    const Hashed hashed(arrays);
    CHECK(hashed.of(owner) != ContentHashes::none);
    for (const std::uint64_t other : {view, lent, away, torn, absurd})
        CHECK(hashed.of(other) == ContentHashes::none);
    CHECK(hashed.hashes.unread() == 3);
}

TEST_CASE("content hashes: what is dropped has none, and is not visited", "[analysis][duplicates]") {
    ArrayHeap arrays;
    const auto one = arrays.array(first_data, {4}, {8}), two = arrays.array(first_data + 64, {4}, {8});
    Hashed hashed(arrays);
    hashed.hashes.drop(hashed.id(one));
    CHECK(hashed.of(one) == ContentHashes::none);
    std::vector<ObjectId> visited;
    hashed.hashes.visit(hashed.heap.snapshot().object_count(),
                        [&](ObjectId object, std::uint64_t) { visited.push_back(object); });
    CHECK(visited == std::vector<ObjectId>{hashed.id(two)});
}
