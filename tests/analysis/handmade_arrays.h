#pragma once

// NumPy arrays for a handmade heap: their headers are laid out in memory, where analyses read them.

#include "parsers/cpython/objects/kinds.h"
#include "parsers/numpy/kinds.h"
#include "tests/analysis/handmade_heap.h"
#include "tests/elf/core_writer.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace heapsift::test {

namespace handmade_arrays {
constexpr std::uint64_t headers_start = 0x10000, array_type = 0x800, dtype_type = 0x900,
                        data_start = 0x1000000;
}

/// float64 arrays in headers of 0x400 bytes from 0x10000 on, and lists that hold objects, rooted by native
/// words.
class ArrayHeap {
public:
    ArrayHeap() {
        TypeInfo of_array, of_dtype;
        of_array.address = Address(handmade_arrays::array_type);
        of_array.name = "numpy.ndarray";
        of_array.kind = &ndarray_kind;
        of_array.basicsize = 96;
        of_dtype.address = Address(handmade_arrays::dtype_type);
        of_dtype.name = "numpy.dtype";
        of_dtype.basicsize = 96;
        heap_.types = {of_array, of_dtype};
    }

    /// `base` 0: it has none, and owns its data.
    std::uint64_t array(std::uint64_t data, const std::vector<std::int64_t>& shape,
                        const std::vector<std::int64_t>& strides, std::uint64_t base = 0,
                        std::int64_t refcount = 1) {
        const std::uint64_t at = handmade_arrays::headers_start + 0x400 * count_++, descr = at + 0x100,
                            dimensions = at + 0x200;
        headers_.resize(0x400 * count_);
        put(at + 8, handmade_arrays::array_type);
        put(at + 16, data);
        put(at + 24, static_cast<std::int32_t>(shape.size()));
        put(at + 32, dimensions);
        put(at + 40, dimensions + 64);
        put(at + 48, base);
        put(at + 56, descr);
        put(at + 64, std::uint32_t{base == 0 && !lent_ ? 4U : 0U});
        put(descr + 8, handmade_arrays::dtype_type);
        put(descr + 24, 'f');
        put(descr + 26, '<');
        put(descr + 28, std::int32_t{12});
        put(descr + 32, std::int32_t{8});
        for (std::size_t i = 0; i < shape.size(); ++i) {
            put(dimensions + 8 * i, shape[i]);
            put(dimensions + 64 + 8 * i, strides[i]);
        }
        HandmadeObject object{Address(at), "numpy.ndarray", facts(112, 128, 0, refcount), {}, {}};
        if (base != 0) object.references.push_back(reference(base, ".base", ReferenceKind::hidden));
        heap_.objects.push_back(object);
        return at;
    }
    std::uint64_t lent_array(std::uint64_t data, const std::vector<std::int64_t>& shape,
                             const std::vector<std::int64_t>& strides) {
        lent_ = true;
        const std::uint64_t at = array(data, shape, strides);
        lent_ = false;
        return at;
    }
    /// A rooted object with these attributes.
    std::uint64_t object(const std::string& type,
                         const std::vector<std::pair<std::string, std::uint64_t>>& attributes) {
        const std::uint64_t at = 0x90000 + 0x100 * objects_++;
        HandmadeObject object{Address(at), type, facts(56, 64), {}, {}};
        for (const auto& [name, value] : attributes) object.references.push_back(reference(value, name));
        heap_.objects.push_back(object);
        heap_.natives.push_back(reference(at, "libapp.so cache"));
        return at;
    }
    /// A rooted list of these items.
    std::uint64_t list(const std::vector<std::uint64_t>& items) {
        const std::uint64_t at = 0x80000 + 0x100 * lists_++;
        HandmadeObject object{Address(at), "list", facts(56, 64), {}, {}};
        for (const std::uint64_t item : items) object.references.push_back(reference(item, ".rows"));
        heap_.objects.push_back(object);
        heap_.natives.push_back(reference(at, "libapp.so cache"));
        return at;
    }
    HeapReader build() {
        std::sort(heap_.objects.begin(), heap_.objects.end(),
                  [](const HandmadeObject& a, const HandmadeObject& b) { return a.address < b.address; });
        CoreWriter writer;
        writer.thread(100, 0)
            .process(100, "python3", "python3")
            .load(handmade_arrays::headers_start, headers_);
        writer.load(handmade_arrays::data_start, std::string(0x10000, '\1'));
        heap_.core_bytes = writer.bytes();
        return heap_.build();
    }

private:
    template <class T>
    void put(std::uint64_t at, T value) {
        put_at(headers_, at - handmade_arrays::headers_start, value);
    }
    HandmadeHeap heap_;
    std::string headers_;
    std::uint64_t count_ = 0, lists_ = 0, objects_ = 0;
    bool lent_ = false;
};

}  // namespace heapsift::test
