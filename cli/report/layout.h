#pragma once

// Where the areas of a tree lie on a picture: as an icicle (each level a row, what an area retains below it) and as a
// treemap (what an area retains inside it). A page that can run its script lays them out again, in its own width and
// below what the reader chose; this is for pictures without one: printed, without JavaScript, and of `export`.
//
// Treemaps are squarified (Bruls, Huizing, van Wijk: Squarified Treemaps, 2000): children are laid along the shorter
// side of what is left, and a row of them is closed when one more would make its worst ratio of sides worse.

#include "cli/report/area_tree.h"

#include <cstddef>
#include <vector>

namespace heapsift {

struct PlacedArea {
    const AreaNode* area = nullptr;
    double x = 0, y = 0, width = 0, height = 0;
    std::size_t depth = 0;  // 0: the top
    bool covered = false;   // what lies inside leaves no room for a label
};

/// The top first, each before what is below it. Nothing narrower than `least` is placed, nor what is below that.
std::vector<PlacedArea> icicle(const AreaNode& top, double width, double row, std::size_t levels,
                               double least);

/// The same. Each area has a strip of `heading` above its children, where it is large enough for that; nothing with a
/// side shorter than `least` is placed.
std::vector<PlacedArea> treemap(const AreaNode& top, double width, double height, double heading,
                                std::size_t levels, double least);

}  // namespace heapsift
