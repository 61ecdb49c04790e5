#pragma once

// The pictures of a fleet's page: how many cores of which cause, when.

#include "cli/page.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct FleetSeries {
    std::string name = {};                   // escaped for a terminal, not for HTML
    std::vector<std::uint64_t> counts = {};  // as many as there are bars
};

/// Bars of the series one above the other, in the colours c0, c1, … of page.css; `labels`: of the bars, as many.
std::string stacked_bars(const std::vector<FleetSeries>& series, const std::vector<std::string>& labels);
/// What the colours mean.
std::string series_legend(const std::vector<FleetSeries>& series);
/// One series without labels, beside words that say the same.
std::string small_bars(const std::vector<std::uint64_t>& counts);

}  // namespace heapsift
