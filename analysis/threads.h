#pragma once

// What each thread was doing: the Python functions that it was in, and their local variables.

#include "analysis/holding/retained.h"
#include "analysis/object_row.h"
#include "parsers/cpython/threads.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct LocalRow {
    std::string name;  // not escaped
    ObjectRow object;  // of a variable shared with an inner function what its cell holds; type empty where no
                       // object was found
    Address cell;      // of such a variable
};

struct FrameRow {
    PythonFrame frame;
    std::vector<LocalRow> locals;           // cut to the limit; unbound ones left out
    std::uint64_t local_count = 0;          // all of them
    bool variables_of_module = false;       // a module's body: its variables are the module's, and not listed
    std::optional<std::uint64_t> retained;  // what would come free if the call returned: bytes
};

struct ThreadRow {
    PythonThread thread;                    // its frames moved to `frames`
    std::vector<FrameRow> frames;           // the innermost call first
    std::optional<std::uint64_t> retained;  // by its calls and its own data together: bytes
};

struct ThreadsResult {
    std::vector<ThreadRow> threads;
    std::vector<std::int32_t> native_threads;  // of the core, of which Python knows nothing
    struct Largest {
        std::string function;
        LocalRow local;
    };
    std::optional<Largest> largest;  // the local that retains most (has most memory), of those listed
};

/// `limit`: locals of each frame that are listed; 0 all. Without `retained` what is optional stays empty.
ThreadsResult threads(const HeapReader& heap, std::size_t limit, const RetainedLookup* retained = nullptr);

}  // namespace heapsift
