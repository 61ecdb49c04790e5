#pragma once

// Where a program's code is: functions by name, file and line, as a person looks for them in an editor.

#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// A function and a line of it. Names are not escaped.
struct SourcePlace {
    std::string function;   // co_qualname, up to 3.10 co_name or __qualname__; "" if it cannot be read
    std::string file;       // base name
    std::int32_t line = 0;  // 0: not known

    bool known() const { return !function.empty(); }
    /// The statements of a file that are in no function.
    bool is_body_of_module() const { return function == "<module>"; }
    auto operator<=>(const SourcePlace&) const = default;
};

/// "on_paid(), shop.py:18".
std::string words_of(const SourcePlace& place);

/// Where a function is defined: `code` must be a code object, `function` a Python function.
SourcePlace place_of_code(const PythonHeap& heap, Address code);
SourcePlace place_of_function(const PythonHeap& heap, Address function);

/// The frame in which an exception was raised.
struct RaisedIn {
    SourcePlace place;           // the line that raised it
    ObjectId frame = no_object;  // its frame object
};
/// Nothing known if the exception has no traceback. Cost: the traceback's entries, at most a thousand.
RaisedIn where_raised(const HeapReader& heap, ObjectId exception);

/// The function of a frame object, and the line where it is defined.
SourcePlace place_of_frame(const HeapReader& heap, ObjectId frame);

/// The names of a function's free variables, in the order of its __closure__. Not escaped; a name that cannot
/// be read is "".
std::vector<std::string> free_variables(const PythonHeap& heap, Address function);
/// The same of a code object.
std::vector<std::string> free_variables_of_code(const PythonHeap& heap, Address code);
/// The free variable of a function that lies in this cell; "" if none does.
std::string name_of_cell(const PythonHeap& heap, Address function, Address cell);

}  // namespace heapsift
