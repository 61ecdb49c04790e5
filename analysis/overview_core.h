#pragma once

// What the first screen says about the core, apart from its heap.

#include "analysis/program_facts.h"
#include "parsers/cpython/runtime.h"
#include "parsers/elf/core_file.h"

#include <cstddef>
#include <string>

namespace heapsift {

struct OverviewCore {
    std::string file_name;  // base name
    ProcessInfo process;
    std::size_t threads = 0;
    CoreExtent extent;
    std::string signature;  // analysis/suspects/signature.h
    ProgramFacts facts;
    std::string python;            // "CPython 3.11.2", "CPython 3.13.0, free-threaded"
    std::size_t module_count = 0;  // those that have a file
    std::size_t modules_missing = 0;
};

/// Everything except the signature and the facts.
OverviewCore overview_core(const CoreFile& core, const PythonRuntime& python);

}  // namespace heapsift
