#pragma once

// Which Layouts to try for an interpreter, best first. (layout_choice.cpp says in which order and why.)

#include "parsers/cpython/layout.h"
#include "parsers/cpython/layout_from_debug_info.h"
#include "parsers/cpython/layout_proof.h"
#include "parsers/elf/core_file.h"

#include <string>
#include <vector>

namespace heapsift {

struct LayoutChoice {
    Layout layout;
    std::string source;  // "debug information of /usr/bin/python3.11", "built-in table for CPython 3.11", …
    std::vector<LayoutCheck> checks;   // of the source; the user of the layout has more to prove
    std::vector<Diagnostic> warnings;  // what to tell the user if this one is used
};

/// A few, all of them complete and sound (layout_check.h): the layout from debug information (if
/// there is some, and the table is of another build), with the structs that should be as in the table taken
/// from the table; the same with these taken from debug information; and the built-in table. The core's own
/// debug offsets are applied to each; after these come all of them without. `runtime` is the address of _PyRuntime, `module` the index of its
/// module or -1. Empty if nothing is known of `version`. Cost: about 70 ms if there is debug information that
/// is not in `kept`, where it is then.
std::vector<LayoutChoice> layout_choices(const CoreFile& core, const LayoutVersion& version, Address runtime,
                                         std::int32_t module, KeptLayout& kept);

}  // namespace heapsift
