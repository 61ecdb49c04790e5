#pragma once

// Whether a living process may be one of CPython, before it is stopped for it.

#include <cstdint>
#include <string>

namespace heapsift {

enum class PythonTraces {
    found,   // a file that it runs has them
    none,    // all files that it runs were read, and none has them
    unknown  // not all of them could be read
};

/// Looks into the files whose code the process has mapped. Cost: reads them up to the first with a trace, the
/// program first; at most 512 MiB. `proc` is another place in tests.
PythonTraces python_traces(std::int32_t pid, const std::string& proc = "/proc");

}  // namespace heapsift
