#pragma once

// Which lines of the program tie a cycle.

#include "analysis/cycle_details.h"
#include "analysis/source_places.h"
#include "analysis/suspects/code_that_names.h"

#include <string>
#include <vector>

namespace heapsift {

/// A function that sets attributes by which members of a cycle refer to each other, or adds to what they hold.
struct TiedIn {
    SourcePlace place;                    // the first line of it that does
    std::vector<std::string> references;  // "Space.function"; by the cycle's order
    bool operator==(const TiedIn&) const = default;
};

/// Those that set most of them, by file and line. Only attributes of the program's own classes are looked
/// for. Cost: the instructions of the functions that name one of them.
std::vector<TiedIn> tied_in(const HeapReader& heap, const CodeThatNames& code, const CyclePath& cycle);

}  // namespace heapsift
