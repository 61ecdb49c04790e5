// heapsift-type-shapes: prints the shapes of the static types in a core, with their names, for the tables of
// type_name_tables.h.
//
//     heapsift-type-shapes CORE [SYSROOT] > shapes.3.11
//
// The core must be of the build in question, with the modules of interest imported and its files at hand, so
// that every static type has its name. `type_names.py core` makes such a core; `type_names.py write` makes
// the tables from all of them.

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "parsers/base/error.h"
#include "parsers/cpython/type_finder.h"
#include "parsers/cpython/type_shape.h"

int main(int argc, char** argv) {
    using namespace heapsift;
    if (argc < 2 || argc > 3) {
        fmt::print(stderr, "usage: heapsift-type-shapes CORE [SYSROOT]\n");
        return 2;
    }
    try {
        Diagnostics diagnostics;
        FileSearch search;
        if (argc == 3) search.sysroot = argv[2];
        const CoreFile core = CoreFile::open(argv[1], search, diagnostics);
        const PythonRuntime python = find_python_runtime(core, diagnostics);
        const TypeTable types = find_types(core.memory(), python, {}, core.modules());
        const PythonHeap heap(core.memory(), python, types);
        const int minor = is_python_2(python.layout.version) ? before_3 : python.version.minor;
        int unnamed = 0;
        for (const TypeInfo& type : types) {
            if (type.heap_type) continue;
            if (!type.named) ++unnamed;
            if (const std::uint64_t shape = type_shape(heap, type.address); type.named && shape != 0)
                fmt::print("S {} {:016x} {}\n", minor, shape, type.name);
        }
        if (unnamed > 0)
            fmt::print(stderr, "heapsift-type-shapes: {} static types have no name: are the files here?\n",
                       unnamed);
        return unnamed > 0 ? 1 : 0;
    } catch (const Error& error) {
        fmt::print(stderr, "heapsift-type-shapes: {}\n", error.what());
        return 1;
    }
}
