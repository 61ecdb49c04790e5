#pragma once

// The objects that an expression names: app.CACHE['k'][3].attr, main().rows,
// thread('MainThread').main().rows, threadlocal(0x…).x, generator(0x…).item, 0x7f31c2a4d5e0.attr. Lookup
// reads storage and runs no code.

#include "analysis/expression_text.h"
#include "parsers/reading/heap_reader.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct ExpressionFinding {
    std::vector<ObjectId> objects;  // those that match, by type name, then address

    // If none matches, how far it got:
    // the part of the text that leads somewhere; empty if not even its first name does
    std::string understood;
    std::string missing;               // the step after that; empty if the expression ended
    std::vector<ObjectId> stopped_at;  // what `understood` is; empty for a frame without an object
    bool is_frame = false;             // `understood` is a running call, not an object
    std::vector<ReferenceStep> near;   // names that are there and look like `missing`, or else some of them
    bool near_is_guess = false;        // they look like `missing`
    std::vector<Address> lost;         // addresses that it leads to and at which no object was found
};

/// `expression_problem(text)` must be empty. Cost: a few microseconds, and the references of the objects on
/// the way.
ExpressionFinding find_expression(const HeapReader& heap, std::string_view text);

}  // namespace heapsift
