#pragma once

// Whom a person would name as keeping something alive: a thread, a module of the program, a package, Python
// itself, C code.

#include "parsers/reading/heap_reader.h"
#include "parsers/snapshot/native_graph.h"
#include "parsers/snapshot/native_references.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heapsift {

enum class GroupKind : std::uint8_t {
    thread,      // what a thread's functions and its own data hold
    module,      // a module of the program
    package,     // all modules of a package in site-packages, its static types, its C variables
    python,      // Python and its library
    native,      // C code that belongs to none of these
    callbacks,   // what the interpreter was asked to call: at exit, for a signal
    held,        // references that must exist and were not found
    immortal,    // nobody: objects that are never freed, and that nothing else reaches
    unreachable  // nothing
};

struct Group {
    GroupKind kind = GroupKind::python;
    std::string name;  // "thread MainThread", "app.models", "numpy", "Python and its library"; not escaped
    std::int32_t thread = -1;  // index in RootSet::threads
    Address module;            // the module object; for `module`
};

struct GroupOfHolders;
using GroupId = Id<GroupOfHolders>;
inline constexpr GroupId no_group;

/// All groups of a heap; the three named ones exist in every heap. Each module of the program has its own.
struct Groups {
    Column<GroupId, Group> all;
    GroupId held, immortal, unreachable;

    const Group& operator[](GroupId id) const { return all[id]; }
};

/// Finds the group of each root, and makes groups as they are needed. A file beside os.py belongs to the
/// library, one in site-packages or dist-packages to a package, any other to the program. Refers to what it
/// reads: use it within one call.
class GroupFinder {
public:
    GroupFinder(const HeapReader& heap, const RootSet& roots);

    GroupId of(const Root& root);
    /// The root for a word of C code, with its thread and frame if it has them.
    Root native_root(const NativeReference& native) const;
    GroupId of_native(const Root& root, NativePlace place);
    /// The group of blocks that no object reaches: variables of one library, say.
    GroupId of_blocks(const NativeGraph::Entry& entry);
    /// The groups that were made, and those that every heap has.
    Groups take();

private:
    GroupId python() { return group(GroupKind::python, "Python and its library"); }
    GroupId native() { return group(GroupKind::native, "native"); }
    GroupId group(GroupKind kind, const std::string& name);
    GroupId of_thread(std::int32_t thread);
    GroupId of_module(const LoadedModule& module, int depth = 0);
    bool has_callbacks_at_exit(const LoadedModule& module, ObjectId object) const;
    const Module* module_of(Address variable) const;
    /// That of a package or of Python, if the file belongs to one.
    GroupId of_library(const Module& module);
    GroupId of_type(std::string_view type_name);
    const LoadedModule* find_module(std::string_view name) const;
    std::int32_t thread_of_stack(Address word) const;

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    const RootSet& roots_;
    std::string library_;  // the folder of os.py, with a slash at its end; "" if not known
    Groups groups_;
    std::map<std::pair<GroupKind, std::string>, GroupId> by_name_;
    std::map<ObjectId, const LoadedModule*> by_object_;
    struct FramePlace {
        Address frame;
        std::int32_t thread, index;
    };
    std::vector<FramePlace> frames_;  // by address
};

/// The thread on whose stack `word` lies: of those whose stack pointers are below it in the same mapping, the nearest.
/// Null if there is none.
const CoreThread* thread_at(const CoreFile& core, Address word);

/// The package that a file in site-packages belongs to: "numpy" for ".../site-packages/numpy/core/x.py",
/// "six" for ".../dist-packages/six.py". Empty for a file elsewhere.
std::string package_of_file(std::string_view path);
/// Whether that is a file of the program: in no site-packages, and not in Python's library, whose folder is given.
bool is_file_of_program(std::string_view path, std::string_view library);
/// The folder of os.py, where Python's library is, with a slash at its end; "" if it is not known.
std::string library_folder(const RootSet& roots);

}  // namespace heapsift
