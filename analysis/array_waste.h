#pragma once

// Arrays that could say the same in fewer bytes: all zero, all one value, or of a dtype wider than any value
// in them needs.

#include "parsers/reading/heap_reader.h"

#include <span>
#include <string>
#include <vector>

namespace heapsift {

enum class WasteKind { zero, constant, smaller_dtype };

/// What an array saves at least to be listed, bytes.
inline constexpr std::uint64_t least_saving = 256;

struct ArrayWaste {
    ObjectId array = no_object;
    WasteKind kind = WasteKind::zero;
    std::string dtype;  // dtype.str: "<i8"
    // "|i1", "<f4", "<U12"; its byte order is the array's. Empty for zero and constant
    std::string suggested;
    std::uint64_t nbytes = 0;
    // zero and constant: one element, broadcast; else the count times the smaller itemsize
    std::uint64_t needed = 0;
    std::string range;  // of integers: "0 to 200", of a constant "7"; else empty
};

/// Each array asked about is counted once: looked_at + not_saved + not_read.
struct ArrayWasteResult {
    std::vector<ArrayWaste> rows;  // by nbytes - needed, largest first, ties by address; cut to the limit
    std::uint64_t total_rows = 0;  // these three: of all, not only the rows given
    std::uint64_t total_nbytes = 0;
    std::uint64_t total_needed = 0;
    std::uint64_t looked_at = 0;  // those too small to save anything included
    std::uint64_t not_saved = 0;  // their data is not wholly in the core
    // objects, variable-width strings, user dtypes of new style, odd strides, damaged headers
    std::uint64_t not_read = 0;
};

/// `owners`: arrays that own their data, in any order; `limit` 0: all rows. It reads what is listed once; of
/// any other array about as much as shows that it need not be.
ArrayWasteResult array_waste(const HeapReader& heap, std::span<const ObjectId> owners, std::size_t limit,
                             const ProgressCallback& progress = {});

}  // namespace heapsift
