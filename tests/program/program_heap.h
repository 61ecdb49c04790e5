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
#include "parsers/reading/core_heap.h"
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
    /// Of keys of any kind.
    Address dict_of(const Entries& items);
    /// A class that may have a base, and instances without slots: those have the `attributes` of `options`.
    Address class_with(const std::string& name, const ClassOptions& options);
    Address instance_with(Address type, const std::vector<Address>& attributes);
    /// A cell. A call or a generator that has it among its locals has it as a variable that an inner function
    /// shares.
    Address cell(Address value);
    /// A generator, or another of `type`, that is suspended in a function `name` with these locals.
    Address generator(const std::string& name, const Named& locals, const std::string& type = "generator");
    /// A frame object that outlived its call of `name`, as a traceback has them.
    Address frame_object(const std::string& name, const Named& locals);
    /// A function at app.py:10. Those of one name have one code; `closure` are the cells of its free variables.
    Address function(const std::string& name, const Named& closure = {});
    /// An object that the test fills in, and that the collector tracks.
    Address object(Address type) { return tracked(heap.object(type)); }

    /// A module in sys.modules with these globals; returns the module's dict. Without `file` it has no
    /// __file__.
    Address module(const std::string& name, const std::string& file, const Named& globals);
    /// The code of a function `name` in `file` that uses these globals and attributes.
    Address code_using(const std::string& name, const std::string& file,
                       const std::vector<std::string>& names);
    /// The thread calls `name` from where it is; the last call is the innermost. Gives its code.
    Address call(const std::string& name, const Named& locals, const std::string& file = "/srv/app/app.py");
    /// The body of a module or of a class runs: its names are in a dict.
    void run_body(const std::string& name, Address names);
    /// Another thread, which makes the calls from here on. Threads with a name are in threading._active, and
    /// the main thread is there with them.
    void start_thread(const std::string& name);
    /// Another interpreter, whose main thread makes the calls from here on, and whose modules and tracked
    /// objects these are.
    void start_interpreter();
    /// gc.garbage.
    void collector_garbage(const std::vector<Address>& objects) { own().garbage = list(objects); }
    /// gc.freeze(), for this one.
    void freeze(Address object);
    /// Makes `object` count this many references more than there are.
    void leak(Address object, std::int64_t references) { leaked_[object.value] += references; }
    /// Holds `object` from a mapping of C code, which counts; from the data of the shared library `path`;
    /// from the C stack of the thread that calls. Returns the word.
    Address hold_natively(Address object);
    Address hold_in_library(Address object, const std::string& path);
    Address hold_on_stack(Address object);
    /// atexit.register(function, *arguments), each; once.
    void call_at_exit(const std::vector<std::pair<Address, Address>>& callbacks);
    /// signal.signal(number, handler); the other signals have SIG_DFL. Once.
    void handle_signal(std::uint64_t number, Address handler);

    /// Some of everything that an index keeps something of: a module, a call, garbage, held objects, a leak.
    void add_all_kinds();

    /// The core. The counts are set when it is made for the first time.
    std::string bytes();

    Address interpreter, thread;  // the first
    /// The state of the thread that calls.
    Address last_thread() const { return threads_.back().state; }

private:
    struct Thread {
        Address state;
        std::string name;
        std::int32_t tid = 0;
        std::vector<Address> frames = {};
        Address stack = {};  // a mapping; null for none
    };
    struct Interpreter {
        Address state;
        Named modules = {};
        std::vector<Address> tracked = {}, frozen = {}, codes = {};
        Address garbage = {};
    };
    struct Library {
        Address start;
        std::string path;
    };

    Interpreter& own() { return interpreters_[own_]; }
    Address tracked(Address object);
    Address code(const std::string& name, const Named& locals);
    void fill_frame(Address frame, Address code, const Named& locals);
    void add_frame(Address frame);
    void add_thread(Address state, const std::string& name);
    void make_runtime();
    void name_threads();
    void finish();
    void finish_interpreter();
    void count_references();
    std::string write();
    void link(Address head, const std::vector<Address>& objects);

    std::vector<Interpreter> interpreters_;
    std::size_t own_ = 0;          // whose what is made is
    std::vector<Thread> threads_;  // the last is the one that calls
    std::vector<Library> libraries_;
    std::vector<Address> cells_;
    std::map<std::string, Address> code_of_functions_;
    Address runtime_;
    std::map<std::uint64_t, std::int64_t> leaked_;
    std::uint64_t native_holders_ = 0;
    bool finished_ = false;
};

/// A program as the analyses see it.
struct Analysed {
    explicit Analysed(ProgramHeap& program);

    TemporaryDirectory directory;
    Diagnostics diagnostics;
    CoreHeap heap;
    HeapGraph graph;
    RetainedSizes sizes;
    RetainedLookup retained;

    /// Fails the test if no object was found at `address`.
    ObjectId id(Address address) const;
    std::string group(Address address) const;
    std::uint64_t memory(Address address) const { return heap.facts(id(address)).memory; }
};

}  // namespace heapsift::test
