#pragma once

// From an address that somebody typed to the object that is meant.

#include "cli/address_argument.h"
#include "parsers/snapshot/heap_snapshot.h"

#include <string>

namespace heapsift {

struct FoundAddress {
    ObjectId object = no_object;
    std::string note;  // "0x… lies inside …"; empty where it is the object's own address
};

/// Throws `Error` (exit 2): "address-free", "address-not-an-object", "address-not-saved", "address-unmapped", each with the
/// nearest live object.
FoundAddress find_object(const HeapSnapshot& heap, const AddressArgument& argument);

}  // namespace heapsift
