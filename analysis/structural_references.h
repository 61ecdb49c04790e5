#pragma once

// Which references `why`, dominators and components do not follow, although they are there and count.

#include "parsers/snapshot/heap_snapshot.h"

#include <vector>

namespace heapsift {

/// What every object refers to in the end. A reference into one of these is shown and counted, and leads nowhere: else each
/// instance reaches its class, a method, the method's globals, and so everything.
class StructuralTargets {
public:
    /// Modules of sys.modules of every interpreter and their dicts; static types. Cost: the entries of sys.modules.
    explicit StructuralTargets(const HeapSnapshot& heap);

    bool contains(Address target) const;
    /// Is the reference owned, and not structural?
    bool follows(const Reference& reference) const { return reference.followed && !contains(reference.target); }

    /// Sorted.
    const std::vector<Address>& modules() const { return modules_; }

private:
    const HeapSnapshot& heap_;
    std::vector<Address> modules_;
    std::vector<Address> modules_and_dicts_;
};

}  // namespace heapsift
