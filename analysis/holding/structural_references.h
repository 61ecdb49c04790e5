#pragma once

// References that `why`, dominators and components do not follow, although they exist and are counted.

#include "parsers/snapshot/heap_snapshot.h"

#include <utility>
#include <vector>

namespace heapsift {

/// Objects that everything refers to in the end. A reference to one of them is shown and counted, and not
/// followed: otherwise each instance would reach its class, a method, the method's globals, and so
/// everything. The same holds for what something else owns: a class named by its module belongs to the
/// module, not to its instances or subclasses; a running frame to its thread, not to its callee; and the dict
/// that a threading.local has for a thread goes with the thread.
struct StructuralTargets {
    std::vector<Address> listed;  // sorted
    // The owner of a structural target, with the target: a module and its dict, a dict and a class. Sorted.
    std::vector<std::pair<Address, Address>> owners;

    bool contains(Address target) const;
    /// True if the reference is followed and not structural, or if its source owns the target: a module leads
    /// to its own dict, and that to the module's classes.
    bool follows(Address source, const Reference& reference) const {
        return reference.followed && (!contains(reference.target) || is_owner(source, reference.target));
    }
    bool is_owner(Address source, Address target) const;
};

/// Modules in sys.modules of every interpreter, their dicts and the classes named there; static types;
/// running frames; dicts of thread-locals. For a heap with roots.
StructuralTargets structural_targets(const HeapSnapshot& heap);

}  // namespace heapsift
