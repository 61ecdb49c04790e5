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

/// The code object of a frame object, or of what a generator, coroutine or asynchronous generator runs; null of anything
/// else, and where it cannot be read.
Address code_of_suspended(const HeapReader& heap, ObjectId object);

/// The names of a function's free variables, in the order of its __closure__. Not escaped; a name that cannot
/// be read is "".
std::vector<std::string> free_variables(const PythonHeap& heap, Address function);
/// The same of a code object.
std::vector<std::string> free_variables_of_code(const PythonHeap& heap, Address code);
/// The names of a code object's local variables, in the order in which instructions number them: from 3.11 on all of
/// them, up to 3.10 without those that functions share. Not escaped; a name that cannot be read is "".
std::vector<std::string> local_variables_of_code(const PythonHeap& heap, Address code);
/// Up to 3.10 those that inner functions share, in the same way; from 3.11 on none.
std::vector<std::string> cell_variables_of_code(const PythonHeap& heap, Address code);
/// The free variable of a function that lies in this cell; "" if none does.
std::string name_of_cell(const PythonHeap& heap, Address function, Address cell);

}  // namespace heapsift
