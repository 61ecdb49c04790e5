// The groups of roots: whose a module, a type, a word of C code is.

#include "analysis/holding/heap_graph.h"
#include "tests/catch.h"
#include "tests/program/program_heap.h"

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("groups: by where a module's file lies: the program's own, a package, the library",
          "[program][groups]") {
    ProgramHeap program;
    const Address own = program.list({}), package = program.list({}), library = program.list({}),
                  shared = program.list({}), local = program.list({});
    program.module("app.models", "/srv/app/models.py", {{"OWN", own}, {"SHARED", shared}});
    program.module("pack.core", "/usr/lib/python3/dist-packages/pack/core.py",
                   {{"TABLE", package}, {"SHARED", shared}});
    program.module("json", "/usr/lib/python3.13/json/__init__.py", {{"_cache", library}});
    program.call("main", {{"rows", local}});
    const Analysed analysed(program);
    CHECK(analysed.group(own) == "app.models");
    CHECK(analysed.group(package) == "pack");
    CHECK(analysed.group(library) == "Python and its library");
    CHECK(analysed.group(shared) == "several");
    CHECK(analysed.group(local).starts_with("thread "));
}

TEST_CASE("groups: what only memory of C code points at is native's", "[program][groups]") {
    ProgramHeap program;
    const Address held = program.list({program.heap.real(2.5)});
    program.hold_natively(held);
    program.module("app", "/srv/app/app.py", {});
    const Analysed analysed(program);
    CHECK(analysed.group(held) == "native");
    CHECK(analysed.graph.reach(analysed.id(held)) == Reach::named);
}

TEST_CASE("groups: a file in site-packages belongs to its package", "[analysis][groups]") {
    CHECK(package_of_file("/usr/lib/python3/dist-packages/six.py") == "six");
    CHECK(package_of_file("/venv/lib/python3.11/site-packages/numpy/core/x.so") == "numpy");
    CHECK(package_of_file("/venv/lib/python3.11/site-packages/numpy.libs/libopenblas.so") == "numpy");
    CHECK(package_of_file("/venv/lib/python3.11/site-packages/_cffi.cpython-311.so") == "_cffi");
    CHECK(package_of_file("/site-packages/a/site-packages/b/c.py") == "b");
    CHECK(package_of_file("/srv/app/app.py").empty());
}

TEST_CASE("groups: a module without a file is its parent's, else Python's where an import made it",
          "[program][groups]") {
    ProgramHeap program;
    const auto list = [&] { return program.list({}); };
    const Address built_in = list(), six = list(), made = list(), main = list(), of_sys = list(),
                  orphan = list();
    const Address spec = program.instance(program.python_class("ModuleSpec", {"name"}));
    program.module("_struct", "", {{"__spec__", spec}, {"cache", built_in}});
    program.module("six", "/usr/lib/python3/dist-packages/six.py", {});
    program.module("six.moves", "", {{"__spec__", spec}, {"cache", six}});
    program.module("made", "", {{"__spec__", program.heap.none()}, {"cache", made}});
    program.module("__main__", "", {{"__spec__", spec}, {"cache", main}});
    program.module("sys", "", {{"cache", of_sys}});
    program.module("gone.part", "", {{"cache", orphan}});
    const Analysed analysed(program);
    CHECK(analysed.group(built_in) == "Python and its library");
    CHECK(analysed.group(six) == "six");
    CHECK(analysed.group(made) == "made");
    CHECK(analysed.group(main) == "__main__");
    CHECK(analysed.group(of_sys) == "Python and its library");
    CHECK(analysed.group(orphan) == "gone.part");
}

TEST_CASE("groups: a word of C code is that of its library: a package's, Python's, or nobody's",
          "[program][groups]") {
    ProgramHeap program;
    const auto held = [&](const std::string& path) {
        const Address object = program.list({});
        program.hold_in_library(object, path);
        return object;
    };
    program.module("app", "/srv/app/app.py", {});
    const Address package = held("/venv/site-packages/fast/_core.so"),
                  python = held("/usr/lib/libpython3.13.so.1.0"),
                  library = held("/usr/lib/python3.13/lib-dynload/_json.so"),
                  other = held("/usr/lib/libother.so");
    const Analysed analysed(program);
    CHECK(analysed.group(package) == "fast");
    CHECK(analysed.group(python) == "Python and its library");
    CHECK(analysed.group(library) == "Python and its library");
    CHECK(analysed.group(other) == "native");
}

TEST_CASE("groups: what the interpreter's state holds is Python's, a thread's state the thread's",
          "[program][groups]") {
    ProgramHeap program;
    const Address of_interpreter = program.list({}), of_thread = program.list({});
    program.module("app", "/srv/app/app.py", {});
    program.heap.put(program.interpreter + *program.heap.layout().interpreter_state.size - 8, of_interpreter);
    program.heap.put(program.thread + *program.heap.layout().thread_state.size - 8, of_thread);
    const Analysed analysed(program);
    CHECK(analysed.group(of_interpreter) == "Python and its library");
    CHECK(analysed.group(of_thread) == "thread 100");
}

TEST_CASE("groups: what a type of C code has belongs to the module that its name begins with",
          "[program][groups]") {
    ProgramHeap program;
    PythonHeapBuilder& heap = program.heap;
    const auto dict_of = [&](const std::string& type_name) {
        const Address type = heap.c_type(type_name, {});
        heap.put(program.instance(program.python_class("Holder", {"type"})) + 16, type);
        const Address dict = program.dict({{"cache", program.list({})}});
        heap.set(type, heap.layout().type.tp_dict, dict);
        return dict;
    };
    program.module("fast", "/venv/site-packages/fast/__init__.py", {});
    const Address package = dict_of("fast.core.Array"), builtin = dict_of("array_like");
    const Analysed analysed(program);
    CHECK(analysed.group(package) == "fast");
    CHECK(analysed.group(builtin) == "Python and its library");
}
