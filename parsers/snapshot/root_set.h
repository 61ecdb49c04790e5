#pragma once

// What keeps objects alive from outside the heap, as far as the interpreter's own structures name it:
// modules, fields of the interpreter, frames, thread data, contexts, static types. (Words of C code are in
// ReferenceGraph::natives.)

#include "parsers/cpython/threads.h"
#include "parsers/snapshot/found_objects.h"

#include <string>
#include <vector>

namespace heapsift {

enum class RootKind : std::uint8_t {
    module,         // in sys.modules
    interpreter,    // a field of the interpreter's state, or a word in it
    thread,         // a field of a thread's state, or a word in it
    frame,          // a slot of a running function
    thread_local_,  // the dict of a threading.local for one thread, and the dict of these dicts
    context,        // the context in which a thread runs
    static_type,    // a type that is part of a program or library
    native,         // a word in C code's memory
    native_unseen,  // its count tells of a reference that was not found, and nothing else
                    // reaches it
    immortal        // never freed, and nothing else reaches it
};

/// "module", "thread-local", "native?": as in the contract with users.
const char* name_of(RootKind kind);

struct Root {
    ObjectId object = no_object;
    RootKind kind = RootKind::module;
    std::int32_t thread = -1;  // index in RootSet::threads
    std::int32_t frame = -1;   // index in PythonThread::frames
    Address name = {};         // a str: the name in sys.modules, or of a local; null for none
    Address word = {};         // where the reference lies; null for none
    const char* text = "";     // what it is called if it has no `name`: "sys.modules", "<value stack>"
    ObjectId of = no_object;   // if the object is the dict of a threading.local: that threading.local
    bool cell = false;         // of a local: the object is the cell that holds it
};

/// A module in sys.modules, once for each module object.
struct LoadedModule {
    ObjectId object = no_object;
    Address address, dict;  // dict: null if it cannot be read
    std::string name;       // of its keys in sys.modules: __name__, else the shortest. Not escaped
    bool shadowed = false;  // an earlier interpreter has a module of that name
    std::string file;       // __file__, "" if it has none. Not escaped
};

class RootSet {
public:
    RootSet() = default;
    /// Names of threads are stored by the program: with `hide_thread_names` no thread but MainThread has one.
    /// Cost: the entries of sys.modules and of the dicts of modules, and the frames; if the program uses
    /// threading.local, also one look at each object's type.
    RootSet(const CoreFile& core, const PythonHeap& python, const FoundObjects& objects,
            bool hide_thread_names);

    const std::vector<PythonThread>& threads() const { return threads_; }
    const std::vector<LoadedModule>& modules() const { return modules_; }  // by name
    const std::vector<Root>& roots() const { return roots_; }
    /// Sorted. Every object refers to these in the end, and something else owns them (see StructuralTargets).
    const std::vector<Address>& modules_and_dicts() const { return modules_and_dicts_; }
    /// A module's dict, and a class named in it that says it belongs to that module.
    struct NamedClass {
        Address dict, type;
    };
    const std::vector<NamedClass>& named_classes() const { return named_classes_; }
    const std::vector<Address>& thread_local_dicts() const { return thread_local_dicts_; }
    const std::vector<Address>& running_frames() const { return running_frames_; }

private:
    void add_modules(const FoundObjects& objects, const PythonHeap& python);
    void add_named_classes(const PythonHeap& python);
    void add_interpreters(const FoundObjects& objects, const PythonHeap& python);
    void add_threads(const CoreFile& core, const FoundObjects& objects, const PythonHeap& python,
                     bool hide_names);
    void add_thread_locals(const FoundObjects& objects, const PythonHeap& python);
    void add_static_types(const FoundObjects& objects, const PythonHeap& python);
    void add(const FoundObjects& objects, Address object, Root root);

    std::vector<PythonThread> threads_;
    std::vector<LoadedModule> modules_;
    std::vector<Root> roots_;
    std::vector<NamedClass> named_classes_;
    std::vector<Address> modules_and_dicts_, thread_local_dicts_, running_frames_;
};

}  // namespace heapsift
