#pragma once

// Which Layouts to try for an interpreter, the best first. (The order and why: layout_choice.cpp.)

#include "parsers/cpython/layout.h"
#include "parsers/cpython/layout_proof.h"
#include "parsers/elf/core_file.h"

#include <string>
#include <vector>

namespace heapsift {

struct LayoutChoice {
    Layout layout;
    std::string source;  // "debug information of /usr/bin/python3.11", "built-in table for CPython 3.11", …
    std::vector<LayoutCheck> checks;   // of the source itself; whoever uses the layout has more to prove
    std::vector<Diagnostic> warnings;  // what to tell the user where this one is used
};

/// At most three, whole and sound all of them (layout_check.h): from debug information where it is at hand
/// and the table is of another build, the structs that should be as in the table as there; the same with
/// these as debug information has them; and the built-in table; each with the core's own debug offsets
/// applied. `runtime` is the address of _PyRuntime, `module` the index of its module or -1. Empty where
/// nothing is known of `version`. Cost: some 70 ms where there is debug information.
std::vector<LayoutChoice> layout_choices(const CoreFile& core, const LayoutVersion& version, Address runtime,
                                         std::int32_t module);

}  // namespace heapsift
