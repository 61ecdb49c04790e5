#pragma once

// The objects that an expression names: app.CACHE['k'][3].attr, main().rows,
// thread('MainThread').main().rows, threadlocal(0x…).x, generator(0x…).item, 0x7f31c2a4d5e0.attr. Lookup
// reads storage; nothing is run.

#include "analysis/expression_text.h"
#include "parsers/reading/heap_reader.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct ExpressionFinding {
    std::vector<ObjectId> objects;  // those that fit, by type name, then address

    // Where none fits, how far it got.
    std::string understood;  // the part of the text that leads somewhere; empty: not even its first name does
    std::string missing;     // the step after that; empty where the expression ended
    std::vector<ObjectId> stopped_at;  // what `understood` is; empty for a frame without an object
    bool is_frame = false;             // `understood` is a call that runs, and no object
    std::vector<ReferenceStep> near;   // names that are there and look like `missing`, else some of them
    bool near_is_guess = false;        // they look like it
    std::vector<Address> lost;         // addresses at which no object was found, that it leads to
};

/// `text` is without an `expression_problem`. Cost: a few microseconds, and the references of the objects on
/// the way.
ExpressionFinding find_expression(const HeapReader& heap, std::string_view text);

}  // namespace heapsift
