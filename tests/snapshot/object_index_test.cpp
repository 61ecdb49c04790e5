// From an address to its object, for all kinds of addresses: the index says what a sorted list says.

#include "parsers/snapshot/object_index.h"

#include "tests/catch.h"

#include <algorithm>
#include <random>
#include <vector>

using namespace heapsift;

namespace {

/// Every address has its number, and its neighbours have none unless they are addresses too.
bool agrees(const std::vector<Address>& addresses) {
    const AddressColumn column(addresses);
    const ObjectIndex index(column);
    for (ObjectId id{0}; id < addresses.size(); ++id) {
        if (index.find(addresses[id]) != id) return false;
        for (const std::int64_t step : {-4096, -64, -16, -8, -1, 1, 8, 15, 16, 17, 1024, 1 << 20}) {
            const Address near(addresses[id].value + static_cast<std::uint64_t>(step));
            const auto it = std::lower_bound(addresses.begin(), addresses.end(), near);
            const bool there = it != addresses.end() && *it == near;
            if (index.find(near) != (there ? static_cast<ObjectId>(it - addresses.begin()) : no_object))
                return false;
            index.fetch(near);
        }
    }
    return true;
}

std::vector<Address> every(std::uint64_t start, std::uint64_t step, std::size_t count) {
    std::vector<Address> addresses;
    for (std::size_t i = 0; i < count; ++i) addresses.emplace_back(start + i * step);
    return addresses;
}

}  // namespace

TEST_CASE("object index: without objects nothing is found", "[snapshot][index]") {
    const ObjectIndex none;
    CHECK(none.find(Address(0x1000)) == no_object);
    CHECK(none.find(Address()) == no_object);
    const std::vector<Address> empty;
    const AddressColumn nothing(empty);
    const ObjectIndex index(nothing);
    CHECK(index.find(Address(0x1000)) == no_object);
    CHECK(index.find(Address(~std::uint64_t{0})) == no_object);
    index.fetch(Address(0x1000));
}

TEST_CASE("object index: aligned, and close together", "[snapshot][index]") {
    CHECK(agrees({Address(16)}));
    CHECK(agrees(every(0x7f0000000000, 16, 5000)));
    CHECK(agrees(every(0x7f0000000010, 48, 50000)));
    CHECK(agrees(every(0x55550000fff0, 1 << 20, 300)));  // each in a part of memory of its own
}

TEST_CASE("object index: objects that start between two multiples of 16", "[snapshot][index]") {
    CHECK(agrees(every(0x7f0000000008, 16, 5000)));
    CHECK(agrees(every(0x7f0000000000, 24, 5000)));
    CHECK(agrees({Address(0x1000), Address(0x1018), Address(0x1030), Address(0x1049), Address(0x105f)}));
}

TEST_CASE("object index: addresses that no user space has are searched", "[snapshot][index]") {
    std::vector<Address> addresses = every(0x7ffffffff000, 16, 256);  // up to 2^47
    const auto above = every(0x800000000000, 16, 100), top = every(0xffffffffff600000, 32, 10);
    addresses.insert(addresses.end(), above.begin(), above.end());
    addresses.insert(addresses.end(), top.begin(), top.end());
    CHECK(agrees(addresses));
    CHECK(agrees(top));
    const std::vector<Address> one = every(0x1000, 16, 1);
    const AddressColumn column(one);
    const ObjectIndex low(column);
    CHECK(low.find(Address(0x800000001000)) == no_object);
}

TEST_CASE("object index: objects strewn over all memory are searched as well", "[snapshot][index]") {
    CHECK(agrees(every(0x10000, std::uint64_t{8} << 20, 20000)));  // more memory than an index is worth
    std::mt19937_64 random(3);
    std::vector<Address> addresses;
    for (int i = 0; i < 20000; ++i) addresses.emplace_back(random() >> 1 & ~std::uint64_t{15});
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    CHECK(agrees(addresses));
}
