#pragma once

// The items of array.array objects whose descriptors were not saved. (Why and how: array_items.cpp.)

#include "parsers/base/diagnostics.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"

namespace heapsift {

/// Every descriptor of an array.array that cannot be read, with what the heap tells about it. A descriptor
/// about which nothing is certain is left out, and its arrays are counted in `diagnostics`
/// ("array-items-unknown"). Cost: one look at each object's type, and at each array.
std::vector<ArrayItems> learn_array_items(const FoundObjects& objects, const ObjectAccess& access,
                                          Diagnostics& diagnostics);

}  // namespace heapsift
