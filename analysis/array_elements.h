#pragma once

// What the elements of an array have in common: read from the dumped memory in one pass, which stops as soon
// as nothing can be found any more. (How: array_elements.cpp.)

#include "parsers/elf/address_space.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// Contiguous bytes. `data` is null for zeros that have no copy in the core (a hole in a sparse core): they
/// need not be read.
struct DataRun {
    const std::byte* data = nullptr;
    std::uint64_t size = 0;
};

/// The `size` bytes from `data` on, up to the first that was not saved. Cost: linear in the segments and
/// holes they span.
std::vector<DataRun> data_runs(const AddressSpace& memory, Address data, std::uint64_t size);

/// Called with the size of each piece of bytes that was read.
using ReadProgress = std::function<void(std::uint64_t bytes)>;

/// How many elements, from the first on, have the same bytes; at least 1. `itemsize` is above 0 and divides
/// the total size of the runs.
std::uint64_t equal_elements(std::span<const DataRun> runs, std::uint64_t itemsize,
                             const ReadProgress& progress = {});

/// True if each of the first `size` bytes is zero.
bool all_zero(std::span<const DataRun> runs, std::uint64_t size);

struct ElementFormat {
    char kind = 'V';  // dtype.kind: 'i', 'u', 'f', 'c', 'U', 'S'
    std::uint64_t itemsize = 0;
    bool big_endian = false;
};

struct ElementFit {
    // the smallest dtype that keeps every value (an integer may become unsigned); its own if none is smaller
    ElementFormat smaller;
    std::string range;  // of integers: "0 to 200", or "7" if all are equal; else empty
};

/// Looks at the first element, and at those from `first` on (the ones between are equal to it). Handles
/// integers of 1, 2, 4 or 8 bytes, float64, complex128 and strings; finds nothing for others. `range` covers
/// all elements only if a smaller dtype was found, or if `first` is past the end.
ElementFit fit_elements(std::span<const DataRun> runs, ElementFormat format, std::uint64_t first,
                        const ReadProgress& progress = {});

}  // namespace heapsift
