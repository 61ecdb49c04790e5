#pragma once

// A path as people read it: one line for each step that a person would write. A run of equal steps (a linked
// list) becomes its first link, the number of further links, and its last link; of what is still too long the
// middle is left out.

#include "parsers/cpython/step.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct PathLine {
    enum class Kind : std::uint8_t {
        object,    // a step, and its target
        more,      // `count` more links of `names`
        left_out,  // `count` steps
        block,     // of C code; `place` is its index among those of the path
    } kind = Kind::object;
    // for an object one, or none at a root; for a link each of its steps
    std::vector<ReferenceStep> names = {};
    bool without_dot = false;  // a local of the frame in which the path begins
    std::size_t place = 0;     // index of the object on the path; 0 is its beginning
    std::uint64_t count = 0;   // of links, or of steps left out
    std::string type = {};     // of the object
};

/// The `lines` of objects with runs folded, and the middle left out if there are more than `limit` lines (0:
/// no limit). Linear.
std::vector<PathLine> folded_lines(const std::vector<PathLine>& lines, std::size_t limit);

}  // namespace heapsift
