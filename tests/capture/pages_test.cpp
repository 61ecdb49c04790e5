// Which saved pages have no bytes.

#include "parsers/capture/pages.h"

#include "tests/capture/simulated_process.h"
#include "tests/catch.h"

#include <set>
#include <utility>

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr std::uint64_t base = 0x7f0000000000;

using Numbers = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Page numbers, from the base.
Numbers without_bytes(const MemoryPlan& plan, const std::set<std::uint64_t>& gone = {}) {
    Numbers found;
    for (const AddressRange& range :
         pages_without_bytes(plan, [&](std::uint64_t page) { return !gone.contains(page); }))
        found.emplace_back((range.start.value - base) / captured_page,
                           (range.end.value - base) / captured_page);
    return found;
}

}  // namespace

TEST_CASE("pages without bytes: gaps of what is saved, over the borders of chunks and mappings",
          "[capture]") {
    SimulatedProcess process;
    process.mappings.push_back({base, 1000, true});
    process.mappings.push_back({base + 1000 * captured_page, 10, true});  // follows at once
    process.mappings.push_back({base + 2000 * captured_page, 50, true});  // nothing was touched: not saved
    process.mappings.push_back({base + 3000 * captured_page, 3, true});
    for (const std::uint64_t page : {5, 6, 7, 600, 1009, 3000, 3001, 3002})
        process.page_seeds[base + page * captured_page] = page + 1;
    const MemoryPlan plan = process.plan();
    CHECK(without_bytes(plan) == Numbers{{0, 5}, {8, 600}, {601, 1009}});
    // Those numbers count the pages of the plan: 6 and 3002 could not be read.
    CHECK(without_bytes(plan, {1, 7}) == Numbers{{0, 5}, {6, 7}, {8, 600}, {601, 1009}, {3002, 3003}});
    CHECK(without_bytes(plan, {0, 1, 2, 3, 4, 5, 6, 7}) == Numbers{{0, 1010}, {3000, 3003}});
    CHECK(without_bytes({}).empty());
}
