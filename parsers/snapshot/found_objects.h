#pragma once

// All objects by number, and for each its address, its type and the proof by which it was found.

#include "parsers/base/address.h"
#include "parsers/base/ids.h"
#include "parsers/base/stored.h"
#include "parsers/cpython/types.h"

#include <algorithm>
#include <cstdint>

namespace heapsift {

struct ObjectOfHeap;
using ObjectId = Id<ObjectOfHeap>;  // ids follow addresses
inline constexpr ObjectId no_object;
/// The million numbers that are left are for the other nodes of a graph.
inline constexpr std::uint64_t most_objects = (std::uint64_t{1} << 32) - (std::uint64_t{1} << 20);

/// How an object was found: the first of these that applies. Each is a proof besides the header, which other
/// data may resemble.
enum class FoundBy : std::uint8_t {
    collector,    // linked in a list of the collector
    pymalloc,     // an allocated block of a pymalloc pool, in no free list, of the size its type asks for
    malloc,       // the start of a block that malloc handed out and that was not freed
    static_data,  // in a module's writable data, referred to by a found object or proved by its own contents
    reference     // none of these, but a found object refers to it
};

/// Columns sorted by address, no duplicates.
struct FoundObjects {
    Stored<Address> addresses;
    Stored<TypeId> types;
    Stored<FoundBy> found_by;

    /// The object that starts at `address`, or `no_object`. A binary search.
    ObjectId find(Address address) const {
        const auto it = std::lower_bound(addresses.begin(), addresses.end(), address);
        return it != addresses.end() && *it == address ? static_cast<ObjectId>(it - addresses.begin())
                                                       : no_object;
    }
};

}  // namespace heapsift
