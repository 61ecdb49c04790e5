#pragma once

// Whether a container can grow without end, as far as the code that uses it tells.

#include "analysis/suspects/code_that_names.h"
#include "analysis/suspects/scene.h"
#include "analysis/suspects/suspect.h"

#include <optional>

namespace heapsift {

/// What bounds a container of the program.
struct Bound {
    CauseWords words;  // "it is bounded: size=1000, full"
    std::string fix;
};

/// The holder's bound, if it is a list, dict, set or deque in an attribute or a global, and
///   - a function that uses it takes things out by its length and a number that is at least as large, and at most
///     twice as large: an attribute of the instance or a global that only `__init__` and bodies of modules set, or,
///     where the length is that number, a constant of the function; or
///   - what fills it is the `__init__` of its owner, or the body of a module, and has ended; and of the other functions
///     that use its name, of which there is one at least, none has a call or an instruction that adds to anything.
/// Nothing where that is not sure: Python 2.7, and versions whose instructions are not known (3.16 and later).
/// Cost: the names of each code object; the instructions of those that use the name.
std::optional<Bound> bound_of(const Scene& scene, const CodeThatNames& code);

}  // namespace heapsift
