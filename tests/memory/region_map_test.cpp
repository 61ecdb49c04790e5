// Who owns each byte: claims that overlap, leave gaps, are empty, come in any order, or lie outside of what
// is mapped. Whatever is claimed, the shares add up.

#include "parsers/memory/region_map.h"

#include "tests/catch.h"

#include <algorithm>
#include <random>

using namespace heapsift;
using Owner = MemoryOwner;

namespace {

AddressRange range(std::uint64_t start, std::uint64_t end) { return {Address(start), Address(end)}; }

}  // namespace

TEST_CASE("regions: what nobody claims is other memory, and what overlaps in the mappings counts once",
          "[memory][regions]") {
    RegionMap map({range(0x3000, 0x4000), range(0x1000, 0x2000), range(0x1800, 0x2800)});
    CHECK(map.mapped_bytes() == 0x2800);
    const MemoryShares shares = map.shares();
    CHECK(shares[Owner::other] == 0x2800);
    CHECK(shares.sum() == map.mapped_bytes());
    CHECK(map.overlaps() == 0);
}

TEST_CASE("regions: the more particular owner goes before the general one, wherever they overlap",
          "[memory][regions]") {
    RegionMap map({range(0, 1000)});
    map.claim(Owner::files, range(0, 500));
    map.claim(Owner::objects, range(400, 600));     // over the end of the file
    map.claim(Owner::array_data, range(450, 460));  // in the middle of the object
    map.claim(Owner::stacks, range(900, 1000));
    const MemoryShares shares = map.shares();
    CHECK(shares[Owner::array_data] == 10);
    CHECK(shares[Owner::objects] == 190);
    CHECK(shares[Owner::files] == 400);
    CHECK(shares[Owner::stacks] == 100);
    CHECK(shares[Owner::other] == 300);
    CHECK(shares.sum() == 1000);
    CHECK(map.overlaps() == 0);
}

TEST_CASE("regions: claims of no length, backwards, and of what is not mapped count for nothing",
          "[memory][regions]") {
    RegionMap map({range(100, 200), range(300, 400)});
    map.claim(Owner::objects, range(150, 150));
    map.claim(Owner::objects, range(190, 110));
    map.claim(Owner::objects, range(200, 300));  // the gap
    map.claim(Owner::array_data, range(380, ~std::uint64_t{0}));
    map.claim(Owner::files, range(0, 120));
    const MemoryShares shares = map.shares();
    CHECK(shares[Owner::objects] == 0);
    CHECK(shares[Owner::array_data] == 20);
    CHECK(shares[Owner::files] == 20);
    CHECK(shares.sum() == 200);
}

TEST_CASE("regions: two objects that claim the same bytes are an overlap, two that touch are none",
          "[memory][regions]") {
    RegionMap map({range(0, 1000)});
    map.claim(Owner::objects, range(100, 200));
    map.claim(Owner::objects, range(0, 100));
    CHECK(map.shares()[Owner::objects] == 200);
    CHECK(map.overlaps() == 0);
    map.claim(Owner::objects, range(199, 250));
    const MemoryShares shares = map.shares();
    CHECK(shares[Owner::objects] == 250);
    CHECK(shares.sum() == 1000);
    CHECK(map.overlaps() == 1);
}

TEST_CASE("regions: an allocator's memory is divided by numbers, and what these leave are headers",
          "[memory][regions]") {
    RegionMap map({range(0, 100), range(150, 1000)});
    MemoryShares shares;
    shares[Owner::objects] = 60;
    shares[Owner::free] = 20;
    map.divide(range(50, 200), shares);  // of which 100 are mapped
    map.divide(range(500, 600), {});
    map.claim(Owner::array_data, range(0, 1000));  // only around them
    const MemoryShares all = map.shares();
    CHECK(all[Owner::objects] == 60);
    CHECK(all[Owner::free] == 20);
    CHECK(all[Owner::headers] == 20 + 100);
    CHECK(all[Owner::array_data] == 50 + 300 + 400);
    CHECK(all.sum() == 950);
}

TEST_CASE("regions: as a map byte by byte says, for claims by chance", "[memory][regions]") {
    std::mt19937 random(7);
    const auto number = [&](std::uint64_t below) { return random() % below; };
    for (int round = 0; round < 300; ++round) {
        constexpr std::uint64_t end = 256;
        const auto any_range = [&] {
            const std::uint64_t start = number(end);
            return range(start, start + number(40));
        };
        std::vector<AddressRange> mapped;
        for (std::uint64_t i = number(6); i > 0; --i) mapped.push_back(any_range());
        std::vector<int> owner(end + 64, -1);  // by byte; -1: not mapped
        for (const AddressRange& r : mapped)
            for (Address at = r.start; at < r.end; at = at + 1)
                owner[at.value] = static_cast<int>(Owner::other);
        RegionMap map(mapped);
        for (std::uint64_t i = number(20); i > 0; --i) {
            const AddressRange r = any_range();
            const int of = static_cast<int>(number(memory_owners));
            map.claim(static_cast<Owner>(of), r);
            for (Address at = r.start; at < r.end; at = at + 1)
                if (owner[at.value] >= 0) owner[at.value] = std::min(owner[at.value], of);
        }
        const MemoryShares shares = map.shares();
        for (std::size_t i = 0; i < memory_owners; ++i)
            REQUIRE(shares[static_cast<Owner>(i)] ==
                    static_cast<std::uint64_t>(std::count(owner.begin(), owner.end(), static_cast<int>(i))));
        REQUIRE(shares.sum() == map.mapped_bytes());
    }
}
