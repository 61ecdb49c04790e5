#include "analysis/growth/growth_order.h"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

namespace heapsift {
namespace {

constexpr std::int64_t no_number = std::numeric_limits<std::int64_t>::min();

std::int64_t sort_number(const GrownName& row, GrowthSort sort) {
    if (sort == GrowthSort::count) return row.amounts.count_growth();
    if (!row.retained.back()) return no_number;
    return AmountsByCore::difference(row.retained.front().value_or(0), *row.retained.back());
}
std::int64_t sort_number(const GrownRow& row, GrowthSort sort) {
    return sort == GrowthSort::count ? row.amounts.count_growth() : no_number;
}
std::int64_t sort_number(const GrownNative& row, GrowthSort sort) {
    return sort == GrowthSort::count ? row.count_growth() : no_number;
}
std::int64_t sort_number(const GrownMemory&, GrowthSort) { return no_number; }

auto sort_name(const GrownName& row) { return std::pair(row.name, row.line); }
auto sort_name(const GrownRow& row) { return std::tuple(row.row.type, row.row.holder, row.row.attribute); }
auto sort_name(const GrownNative& row) { return std::pair(row.now.of_class, row.now.size); }
auto sort_name(const GrownMemory& row) { return row.name; }

template <class Row>
void order(std::vector<Row>& rows, GrowthSort sort) {
    if (sort == GrowthSort::name)
        std::stable_sort(rows.begin(), rows.end(),
                         [](const Row& a, const Row& b) { return sort_name(a) < sort_name(b); });
    else
        std::stable_sort(rows.begin(), rows.end(), [sort](const Row& a, const Row& b) {
            return sort_number(a, sort) > sort_number(b, sort);
        });
}

}  // namespace

void order_growth(GrowthResult& result, GrowthSort sort) {
    if (sort == GrowthSort::growth) return;
    order(result.types, sort);
    order(result.arrays, sort);
    order(result.lines, sort);
    order(result.held, sort);
    order(result.natives, sort);
    order(result.memories, sort);
}

}  // namespace heapsift
