#pragma once

// What the elements of an array have in common, read from the dumped memory in one pass that ends as soon as
// there is nothing left to say. (How: array_elements.cpp.)

#include "parsers/elf/address_space.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// Bytes that lie one behind the other. `data` is null where they are zeros of which no copy is in the core
/// (a sparse core's hole): they need not be read.
struct DataRun {
    const std::byte* data = nullptr;
    std::uint64_t size = 0;
};

/// The `size` bytes from `data` on, up to the first that was not saved. Cost: the segments and holes they
/// span.
std::vector<DataRun> data_runs(const AddressSpace& memory, Address data, std::uint64_t size);

/// Is told of bytes as they are read; a piece at a time.
using ReadProgress = std::function<void(std::uint64_t bytes)>;

/// How many elements from the first on have the same bytes; at least 1. itemsize > 0, and divides the sum of
/// the runs.
std::uint64_t equal_elements(std::span<const DataRun> runs, std::uint64_t itemsize,
                             const ReadProgress& progress = {});

/// Is each of the first `size` bytes zero?
bool all_zero(std::span<const DataRun> runs, std::uint64_t size);

struct ElementFormat {
    char kind = 'V';  // of dtype: 'i', 'u', 'f', 'c', 'U', 'S'
    std::uint64_t itemsize = 0;
    bool big_endian = false;
};

struct ElementFit {
    ElementFormat smaller;  // the smallest dtype of that sort that keeps every value; the one it has where
                            // there is none
    std::string range;      // of integers: "0 to 200", "7" where all are one; else empty
};

/// The first element, and those from `first` on (the ones between are equal to it). Integers of 1, 2, 4 or 8
/// bytes, float64, complex128, strings; of anything else nothing is said. `range` is whole only where a
/// smaller dtype was found, or where `first` is past the end.
ElementFit fit_elements(std::span<const DataRun> runs, ElementFormat format, std::uint64_t first,
                        const ReadProgress& progress = {});

}  // namespace heapsift
