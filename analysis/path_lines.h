#pragma once

// A path as it is read: a line for each step that a person would write. A run of equal steps (a linked list) is its
// first link, how many more, and its last; of what is still too long the middle is left out.

#include "parsers/cpython/step.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct PathLine {
    enum class Kind : std::uint8_t {
        object,    // a step, and what it leads to
        more,      // so many more links of `names`
        left_out,  // so many steps
    } kind = Kind::object;
    std::vector<ReferenceStep> names =
        {};                    // of an object one, or none at a root; of a link each of its steps
    bool without_dot = false;  // a local of the frame that the path begins with
    std::size_t place = 0;     // of the object on the path: 0 is where it begins
    std::uint64_t count = 0;   // of links, or of steps left out
    std::string type = {};     // of the object
};

/// `lines` of objects, with runs as one, and of more than `limit` lines (0: any number) those in the middle left out.
/// Linear.
std::vector<PathLine> folded_lines(const std::vector<PathLine>& lines, std::size_t limit);

}  // namespace heapsift
