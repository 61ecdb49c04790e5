#pragma once

// Finds every live object. (How: builder.cpp.)

#include "parsers/base/diagnostics.h"
#include "parsers/snapshot/heap_snapshot.h"
#include "parsers/snapshot/object_access.h"

namespace heapsift {

/// Sorted by address, no duplicates.
struct FoundObjects {
    std::vector<Address> addresses;
    std::vector<TypeId> types;
    std::vector<FoundBy> found_by;
};

FoundObjects find_objects(const CoreFile& core, const ObjectAccess& access, Diagnostics& diagnostics,
                          const ProgressCallback& progress);

}  // namespace heapsift
