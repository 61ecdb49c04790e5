#pragma once

// Which references `why`, dominators and components do not follow, although they are there and count.

#include "parsers/snapshot/heap_snapshot.h"

#include <utility>
#include <vector>

namespace heapsift {

/// What every object refers to in the end. A reference into one of these is shown and counted, and leads
/// nowhere: else each instance reaches its class, a method, the method's globals, and so everything. And what
/// somebody else owns: a class that its module names is the module's, not its instances' nor its subclasses';
/// a frame that runs is its thread's, not its callee's; and the dict that a threading.local has for a thread
/// goes with the thread.
struct StructuralTargets {
    std::vector<Address> listed;  // sorted
    // Whom a structural target belongs to, with it: a module and its dict, a dict and a class. Sorted.
    std::vector<std::pair<Address, Address>> owners;

    bool contains(Address target) const;
    /// Is the reference owned, and not structural? A module leads to its own dict, and that to the module's
    /// classes.
    bool follows(Address source, const Reference& reference) const {
        return reference.followed && (!contains(reference.target) || is_owner(source, reference.target));
    }
    bool is_owner(Address source, Address target) const;
};

/// Modules of sys.modules of every interpreter, their dicts and the classes that these name; static types;
/// running frames; dicts of thread-locals. Of a heap with roots.
StructuralTargets structural_targets(const HeapSnapshot& heap);

}  // namespace heapsift
