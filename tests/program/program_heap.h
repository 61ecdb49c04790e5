#pragma once

// A whole Python program in a core, written by a test: modules, classes, objects, a thread with calls, the
// collector's lists. Nothing is simulated: the core is read, its objects are found, and the analyses are
// asked, as with a core of a real process.
//
//     ProgramHeap program;
//     const Address node = program.instance(program.python_class("Node", {"next"}), {program.heap.none()});
//     program.module("app", "/srv/app/app.py", {{"FIRST", node}});
//     const Analysed analysed(program);
//     const WhyResult result = why(analysed.graph, analysed.sizes, analysed.id(node), {});
//     CHECK(result.paths.at(0).root_words == "module app");
//
// Reference counts match the references that exist, as if nothing had leaked: they are set once everything is
// there. A test that wants others adds to them (`leak`). A class that no module names goes away with its
// instances. The interpreter is a 3.13, the only version whose memory says where its state lies
// (_Py_DebugOffsets), so that no file is needed.

#include "analysis/holding/retained.h"
#include "parsers/reading/heap_reader.h"
#include "tests/cpython/python_heap_builder.h"
#include "tests/elf/temporary_directory.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace heapsift::test {

class ProgramHeap {
public:
    ProgramHeap();

    PythonHeapBuilder heap;

    using Named = std::vector<std::pair<std::string, Address>>;

    /// A class of module `app` whose instances have the slots `attributes`. The collector tracks them.
    Address python_class(const std::string& name, const std::vector<std::string>& attributes);
    /// An instance with these values in its slots, in order; null for an empty one.
    Address instance(Address type, const std::vector<Address>& values = {});
    void set_slot(Address instance, std::size_t slot, Address value);
    /// Tracked containers.
    Address list(const std::vector<Address>& items);
    Address dict(const Named& items);
    /// A module in sys.modules with these globals; returns the module's dict.
    Address module(const std::string& name, const std::string& file, const Named& globals);
    /// The main thread calls `name` from where it is; the last call is the innermost.
    void call(const std::string& name, const Named& locals);
    /// gc.garbage.
    void collector_garbage(const std::vector<Address>& objects);
    /// Makes `object` count this many references more than there are.
    void leak(Address object, std::int64_t references) { leaked_[object.value] += references; }
    /// Holds `object` from a mapping of C code, which counts.
    void hold_natively(Address object);

    /// The core. The counts are set when it is made for the first time.
    std::string bytes();

    Address interpreter, thread;

private:
    Address tracked(Address object);
    void make_runtime();
    void finish();
    void count_references();
    std::string write();
    void link(Address head, const std::vector<Address>& objects);

    Named modules_;
    std::vector<Address> tracked_;
    std::vector<Address> frames_;
    Address runtime_, garbage_;
    std::map<std::uint64_t, std::int64_t> leaked_;
    std::uint64_t native_holders_ = 0;
    bool finished_ = false;
};

/// A program as the analyses see it.
struct Analysed {
    explicit Analysed(ProgramHeap& program);

    TemporaryDirectory directory;
    Diagnostics diagnostics;
    HeapReader heap;
    HeapGraph graph;
    RetainedSizes sizes;
    RetainedLookup retained;

    /// Fails the test if no object was found at `address`.
    ObjectId id(Address address) const;
    std::string group(Address address) const;
    std::uint64_t memory(Address address) const { return heap.facts(id(address)).memory; }
};

}  // namespace heapsift::test
