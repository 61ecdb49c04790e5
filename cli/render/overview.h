#pragma once

// The first screen, in text and JSON.

#include "analysis/overview.h"
#include "cli/answer.h"

namespace heapsift {

/// What the screen says of the core beside its heap.
struct OverviewCore {
    std::string file_name;  // base name
    ProcessInfo process;
    std::size_t threads = 0;
    CoreExtent extent;
    std::string signature;         // analysis/signature.h
    std::string python;            // "CPython 3.11.2", "CPython 3.13.0, free-threaded"
    std::size_t module_count = 0;  // that have a file
    std::size_t modules_missing = 0;
};

OverviewCore overview_core(const CoreFile& core, const PythonRuntime& python);

/// The answer refers to `result` and `core`.
Answer render_overview(const OverviewResult& result, const OverviewCore& core, Redactor& redactor);

/// The sentence above the tables.
std::string headline_text(const OverviewResult& result, const Page& page);

}  // namespace heapsift
