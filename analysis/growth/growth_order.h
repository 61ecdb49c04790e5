#pragma once

// The rows of a growth in another order than by growth.

#include "analysis/growth/grown.h"

#include <cstdint>

namespace heapsift {

enum class GrowthSort : std::uint8_t {
    growth,    // of bytes: as `growth` leaves them
    count,     // of the number of objects or blocks; rows of memory have none
    retained,  // of what all objects of a type retain; other rows have none
    name
};

/// All rows but the places, each kind by `sort`, most first (names from a to z). Rows without such a number come last,
/// and equal ones stay by growth. Cost: one sort.
void order_growth(GrowthResult& result, GrowthSort sort);

}  // namespace heapsift
