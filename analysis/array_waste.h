#pragma once

// Arrays whose content would fit in fewer bytes: all zero, all one value, or a wider dtype than their values
// need.

#include "parsers/reading/heap_reader.h"

#include <span>
#include <string>
#include <vector>

namespace heapsift {

enum class WasteKind { zero, constant, smaller_dtype };

/// An array is listed if it could save at least this many bytes.
inline constexpr std::uint64_t least_saving = 256;

struct ArrayWaste {
    ObjectId array = no_object;
    WasteKind kind = WasteKind::zero;
    std::string dtype;  // dtype.str: "<i8"
    // "|i1", "<f4", "<U12", in the array's byte order. Empty for zero and constant
    std::string suggested;
    std::uint64_t nbytes = 0;
    // for zero and constant one element, broadcast; else the element count times the smaller itemsize
    std::uint64_t needed = 0;
    std::string range;  // of integers: "0 to 200", or "7" for a constant; else empty
};

/// Each array is counted once: looked_at + not_saved + not_read.
struct ArrayWasteResult {
    std::vector<ArrayWaste> rows;  // by nbytes - needed, largest first, ties by address; cut to the limit
    std::uint64_t total_rows = 0;  // these three: of all rows, not only those given
    std::uint64_t total_nbytes = 0;
    std::uint64_t total_needed = 0;
    std::uint64_t looked_at = 0;  // including those too small to save anything
    std::uint64_t not_saved = 0;  // their data is not completely in the core
    // objects, variable-width strings, new-style user dtypes, odd strides, damaged headers
    std::uint64_t not_read = 0;
};

/// `owners`: arrays that own their data, in any order; `limit` 0: all rows. Reads the data of listed arrays
/// once, and of the others about as much as it takes to rule them out.
ArrayWasteResult array_waste(const HeapReader& heap, std::span<const ObjectId> owners, std::size_t limit,
                             const ProgressCallback& progress = {});

}  // namespace heapsift
