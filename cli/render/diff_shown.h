#pragma once

// What of a growth is to be shown.

#include "analysis/growth/growth_order.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace heapsift {

/// Which table is shown; the first screen has a few rows of several.
enum class DiffTable : std::uint8_t { summary, types, holders, arrays, native, memory, lines };

struct DiffShown {
    DiffTable table = DiffTable::summary;
    GrowthSort sort = GrowthSort::growth;
    std::size_t rows = 0;         // of the table that was asked for; 0: all
    std::string newest, command;  // the newest core's path, and the words of the command, for hints
};

}  // namespace heapsift
