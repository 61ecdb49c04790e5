#pragma once

// Pictures as SVG: areas of a tree, and the chain of objects of one path or cycle.
//
// A picture has no script and asks for nothing: titles say on hovering what a label has no room for. A file of its own
// has its colours with it, light and dark; inside a page the same classes take the page's. All text of it is escaped.

#include "analysis/cycles.h"
#include "analysis/why.h"
#include "cli/page.h"
#include "cli/report/layout.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct SvgRules {
    double width = 1200, height = 0;
    bool own_file = true;
    std::string_view title = {};  // what the picture is of
};

/// As they were placed by layout.h. Each area is a group of class "k-KIND", even or odd by its depth.
std::string svg_of_areas(const std::vector<PlacedArea>& placed, const SvgRules& rules, const Page& page);

/// An icicle of all levels, or a treemap, as a file: 1200 wide. At most some 600 areas, so under 200 KB.
std::string svg_icicle(const AreaNode& top, std::string_view title, const Page& page);
std::string svg_treemap(const AreaNode& top, std::string_view title, const Page& page);

/// The first path of an answer, from its root down, a box for each object; of garbage the cycle that it is in.
std::string svg_of_path(const WhyResult& result, const Page& page);
/// A cycle: a box for each object on its shortest way round.
std::string svg_of_cycle(const CycleRow& cycle, const Page& page);

}  // namespace heapsift
