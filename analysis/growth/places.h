#pragma once

// The rows that grew, and the places below which they hang (growth.h says what a place is).

#include "analysis/growth/grown.h"

#include <optional>
#include <vector>

namespace heapsift {

struct PlacesFound {
    std::int64_t moved = 0;            // MatchedRows::moved
    std::optional<GrownRow> moved_to;  // GrowthResult::moved_to
    std::vector<GrownRow> held;        // that changed, by growth of bytes
    std::vector<GrownPlace>
        places;  // that grew: the steady ones first, usual caches last, then by `believed`
};

/// `types`: how each type grew in all.
PlacesFound grown_places(const std::vector<Inventory>& cores, const std::vector<GrownName>& types);

}  // namespace heapsift
