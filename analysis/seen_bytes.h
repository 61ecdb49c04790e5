#pragma once

// Which bytes arrays show: views may overlap, repeat or leave gaps; each byte counts once. (How:
// seen_bytes.cpp.)

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {

/// An array's elements in memory. Extents and strides may have any value: an array that overflows shows
/// nothing.
struct ArrayElements {
    std::uint64_t data = 0;                        // the address of the element whose indices are all 0
    std::uint64_t itemsize = 0;                    // bytes
    std::span<const std::int64_t> shape, strides;  // of the same length
};

struct ByteRange {
    std::uint64_t begin = 0, end = 0;  // `end` is exclusive
    std::uint64_t size() const { return end - begin; }
};

/// From the lowest byte shown to the last; empty for an array without elements.
ByteRange extent_of(const ArrayElements& array);

/// Counts the bytes shown by one owner's arrays, which are added one by one.
class SeenBytes {
public:
    /// Only bytes in `owner` count.
    explicit SeenBytes(ByteRange owner) : owner_(owner) {}

    void add(const ArrayElements& array);
    /// The number of bytes shown, or an upper bound if `exact` is false. Sorts what was added.
    std::uint64_t count();
    bool exact() const { return exact_; }

private:
    void add_run(std::uint64_t begin, std::uint64_t end);
    void merge();

    ByteRange owner_;
    std::vector<ByteRange> runs_;
    std::uint64_t counted_ = 0;  // of a single view with many runs, until another is added
    ByteRange of_counted_;
    bool exact_ = true;
};

}  // namespace heapsift
