#pragma once

// Memory that gcore left out of the core, of which arrays tell. (How: left_out_mappings.cpp.)

#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"

namespace heapsift {

/// Mappings that the core does not name and in which, by what they say, arrays have their data. None in a
/// kernel's core, which names all. Cost: one look at each object's type, and at each array.
std::vector<AddressRange> left_out_mappings(const CoreFile& core, const FoundObjects& objects,
                                            const ObjectAccess& access);

}  // namespace heapsift
