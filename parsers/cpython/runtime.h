#pragma once

// The interpreter that is in the core: which version and build, where its state lies, how that was found and
// proved.

#include "parsers/base/address.h"
#include "parsers/base/diagnostics.h"
#include "parsers/cpython/layout.h"
#include "parsers/cpython/layout_proof.h"
#include "parsers/elf/core_file.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct PythonVersion {
    int major = 0, minor = 0, micro = 0;
    std::uint8_t release_level = 0xf;  // 0xa alpha, 0xb beta, 0xc candidate, 0xf final
    std::uint8_t serial = 0;
    std::string text() const;  // "3.11.2", "3.13.0rc1"
    static PythonVersion from_hex(std::uint32_t py_version_hex);
};

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
    /// 3.13 and later: does an instance with a __dict__ report that alone, and the dict its values where they
    /// lie in the instance? Up to 3.13.12 it is the instance that reports them, and nobody the dict
    /// (gh-130327). Debian's 3.13.5 has both forms: then the build-ids that are known tell.
    bool instance_reports_dict = true;
    Address runtime;           // _PyRuntime
    std::int32_t module = -1;  // index of the module that holds it, -1 unknown
    std::string found_by;      // "symbol _PyRuntime of /usr/bin/python3.11", "debug offsets at 0x…"
    std::string
        layout_source;  // "built-in table cpython 3.11", "debug offsets and built-in table cpython 3.13"
    Layout layout;
    Address type_type;                            // PyType_Type
    std::vector<PythonInterpreter> interpreters;  // the main one first
    std::vector<LayoutCheck> checks;
};

/// Finds the runtime and proves it: interpreter list, thread back pointers, dictionaries, the collector's
/// lists, `type`. Throws `Error` (exit 1): "not-cpython", "python-not-supported", "runtime-not-found". Cost:
/// the symbols of the modules, else one pass over writable memory.
PythonRuntime find_python_runtime(const CoreFile& core, Diagnostics& diagnostics);

}  // namespace heapsift
