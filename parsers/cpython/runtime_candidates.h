#pragma once

// Where a core may have a CPython runtime. Each place has to prove itself (runtime.cpp).

#include "parsers/base/address.h"
#include "parsers/cpython/build/python_version.h"
#include "parsers/cpython/static_state.h"
#include "parsers/elf/core_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct RuntimeCandidate {
    Address runtime;           // _PyRuntime; without one, where its variables begin
    std::int32_t module = -1;  // index of the module that holds it, -1 unknown
    std::string found_by;
    std::optional<StaticState> variables = {};  // without a _PyRuntime
};

/// In the order in which the modules lie in memory. Cost: the modules' symbols, else one pass over writable memory, else
/// one over the modules' data for each.
std::vector<RuntimeCandidate> runtime_candidates(const CoreFile& core);

/// By the cookie, a symbol, the text of Py_GetVersion, or the file's name; nothing if none of them tells.
std::optional<PythonVersion> version_of(const CoreFile& core, const RuntimeCandidate& candidate);

/// By the text of Py_GetVersion near the module, or its file's name. -1: by that text near any module.
std::optional<PythonVersion> version_of_module(const CoreFile& core, std::int32_t module);

/// As CPython's files and folders are called; nothing for others.
std::optional<PythonVersion> version_by_path(const std::string& path);

}  // namespace heapsift
