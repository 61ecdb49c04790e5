#pragma once

// Where the program calls C code: functions of libraries that it got through ctypes, and extension modules.

#include "analysis/suspects/code_that_names.h"

#include <string>

namespace heapsift {

struct ForeignCalls {
    std::string words;  // what is called: "malloc()", "leak_shapes()", "C code of shapes"; not escaped
    CodePlaces in;
};

/// Who may have made blocks of C code. `module`: the base name of the library whose class they are; "" if that is not known.
/// Its functions that the program's ctypes objects have by name, or else what of it is an imported module; without such a
/// library, functions of the C library that allocate, in functions
/// that do not free as well, if there are such; and without these, all foreign functions but those of the C library.
/// No place where that is not known. Cost: a look at each object's type; the names of each code object for each function.
ForeignCalls foreign_calls(const HeapReader& heap, const CodeThatNames& code, const std::string& module,
                           std::size_t most);

}  // namespace heapsift
