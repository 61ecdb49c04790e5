#pragma once

// The interpreter in the core: its version and build, where its state lies, how that was found and proved.

#include "parsers/base/address.h"
#include "parsers/base/diagnostics.h"
#include "parsers/cpython/build/python_version.h"
#include "parsers/cpython/layout.h"
#include "parsers/cpython/layout_from_debug_info.h"
#include "parsers/cpython/layout_proof.h"
#include "parsers/elf/core_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct PythonInterpreter {
    Address address;
    std::int64_t id = 0;
    Address gc;  // struct _gc_runtime_state
    bool collecting = false;
    Address modules;  // the dict behind sys.modules
    Address sysdict, builtins;
    std::vector<Address> threads;  // PyThreadState
};

struct PythonRuntime {
    PythonVersion version;
    bool debug = false;
    bool free_threaded = false;
    bool instance_reports_dict = true;  // build/instance_dict.h
    Address runtime;                    // _PyRuntime
    std::int32_t module = -1;           // index of the module that holds it, -1 unknown
    std::string found_by;  // "symbol _PyRuntime of /usr/bin/python3.11", "debug offsets at 0x…"
    // "built-in table cpython 3.11", "debug offsets and built-in table cpython 3.13"
    std::string layout_source;
    Layout layout;
    Address type_type;                            // PyType_Type
    std::vector<PythonInterpreter> interpreters;  // the main one first
    std::vector<LayoutCheck> checks;
    std::size_t number = 1, of = 1;  // which of how many that live in the process
};

/// Finds the runtime and proves it: interpreter list, the threads' back pointers, dictionaries, the
/// collector's lists, `type`. Throws `Error` (exit 1): "not-cpython", "python-not-supported",
/// "runtime-not-found". Cost: the modules' symbols, else one pass over writable memory; and debug information
/// that is not in `kept`, where it is then.
/// A process may have several, each from its own library: `wanted` is the number of one, from 1 on, in the order of
/// their modules in memory; 0: the first, and a diagnostic names them all. Throws `Error` (exit 2), "no-such-runtime",
/// if there are not so many.
PythonRuntime find_python_runtime(const CoreFile& core, Diagnostics& diagnostics, KeptLayout& kept,
                                  std::size_t wanted = 0);
PythonRuntime find_python_runtime(const CoreFile& core, Diagnostics& diagnostics);

}  // namespace heapsift
