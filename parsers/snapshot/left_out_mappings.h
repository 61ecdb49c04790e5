#pragma once

// Memory that gcore left out of the core, inferred from arrays. (How: left_out_mappings.cpp.)

#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"

namespace heapsift {

/// Mappings that the core does not list, but in which arrays say that they have their data. Always empty for
/// a core written by the kernel, which lists all mappings. Cost: one look at each object's type, and at each
/// array.
std::vector<AddressRange> left_out_mappings(const CoreFile& core, const FoundObjects& objects,
                                            const ObjectAccess& access);

}  // namespace heapsift
