#pragma once

// What each thread was doing: the Python functions it was in, and their local variables.

#include "analysis/holding/retained.h"
#include "analysis/object_row.h"
#include "parsers/cpython/threads.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct LocalRow {
    std::string name;  // not escaped
    // for a variable shared with an inner function, what its cell holds; empty type if no object was found
    ObjectRow object;
    Address cell;  // for a variable shared with an inner function
};

struct FrameRow {
    PythonFrame frame;
    std::vector<LocalRow> locals;           // cut to the limit; without unbound ones
    std::uint64_t local_count = 0;          // without the limit
    bool variables_of_module = false;       // a module's body: its variables are the module's, not listed
    std::optional<std::uint64_t> retained;  // bytes that would be freed if the call returned
    // How it is shown among the others (`lay_out`):
    std::string called;            // "func()", "<module>"; not escaped
    bool in_run = false;           // one in the middle of several calls of the same function at the same line
    std::uint64_t run_before = 0;  // for the last call of such a run: the number of calls in the middle
};

struct ThreadRow {
    PythonThread thread;                    // its frames are moved to `frames`
    std::vector<FrameRow> frames;           // innermost call first
    std::optional<std::uint64_t> retained;  // bytes, by its calls and its own data together
    bool name_is_given = true;              // by the program, not by Python
};

struct ThreadsResult {
    std::vector<ThreadRow> threads;
    std::vector<std::int32_t> native_threads;  // threads of the core that Python does not know
    struct Largest {
        std::string function;
        LocalRow local;
    };
    bool any_has_gil = false;
    std::optional<Largest> largest;  // of the locals listed, the one that retains most (or has most memory)
};

/// Decides how each thread and call is shown. Part of `threads`.
void lay_out(ThreadsResult& result);

/// `limit`: locals listed per frame; 0: all. Without `retained`, optional values stay empty.
ThreadsResult threads(const HeapReader& heap, std::size_t limit, const RetainedLookup* retained = nullptr);

}  // namespace heapsift
