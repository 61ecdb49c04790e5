#pragma once

// NumPy arrays for a handmade heap: their headers are laid out in memory, where analyses read them.

#include "parsers/cpython/objects/kinds.h"
#include "parsers/numpy/array_layout.h"
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
        add_type("numpy.void").kind = &numpy_void_kind;
        add_type("bytes").kind = &bytes_kind;
        add_type("bytearray").kind = &bytearray_kind;
        add_type("mmap.mmap").known = KnownType::mmap;
        TypeInfo& of_words = add_type("array.array");
        of_words.kind = &array_kind;
        of_words.known = KnownType::array_array;
    }

    /// An object with a buffer: a bytes, whose `size` bytes lie in it; a bytearray, an mmap, an array.array
    /// (of doubles, with room for `room` of them) of `size` bytes or items at `data`.
    std::uint64_t exporter(const std::string& type, std::uint64_t data, std::int64_t size,
                           std::int64_t room = 0) {
        const std::uint64_t at = header(type);
        const Layout& l = heap_.layout;
        if (type == "mmap.mmap") {
            put(at + *l.object.size, data);
            put(at + *l.object.size + 8, size);
        } else {
            put(at + *l.var_object.ob_size, size);
        }
        if (type == "bytearray") put(at + *l.bytearray.ob_start, data);
        if (type == "array.array") {
            const std::uint64_t descr = at + 0x100;
            put(at + *l.array.ob_item, data);
            put(at + *l.array.allocated, room);
            put(at + *l.array.ob_descr, descr);
            put(descr + *l.array_descr.typecode, 'd');
            put(descr + *l.array_descr.itemsize, std::int32_t{8});
        }
        heap_.objects.push_back({Address(at), type, facts(64, 64), {}, {}});
        return at;
    }
    /// The bytes of an exporter `bytes`.
    std::uint64_t bytes_of(std::uint64_t bytes) const { return bytes + *heap_.layout.bytes.ob_sval; }

    /// An element of a structured array, 8 bytes at `data`; `base` 0: it has none.
    std::uint64_t record(std::uint64_t data, std::uint64_t base) {
        const std::uint64_t at = header("numpy.void"), descr = at + 0x100;
        put(at + void_obval, data);
        put(at + void_descr, descr);
        put(at + void_base, base);
        put_descr(descr);
        HandmadeObject object{Address(at), "numpy.void", facts(64, 64), {}, {}};
        if (base != 0) object.references.push_back(reference(base, ".base", ReferenceKind::hidden));
        heap_.objects.push_back(object);
        return at;
    }

    /// `base` 0: it has none, and owns its data.
    std::uint64_t array(std::uint64_t data, const std::vector<std::int64_t>& shape,
                        const std::vector<std::int64_t>& strides, std::uint64_t base = 0,
                        std::int64_t refcount = 1) {
        const std::uint64_t at = header("numpy.ndarray"), descr = at + 0x100, dimensions = at + 0x200;
        put(at + 16, data);
        put(at + 24, static_cast<std::int32_t>(shape.size()));
        put(at + 32, dimensions);
        put(at + 40, dimensions + 64);
        put(at + 48, base);
        put(at + 56, descr);
        put(at + 64, std::uint32_t{base == 0 && !lent_ ? 4U : 0U});
        put_descr(descr);
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
    HandmadeReader build() {
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
    TypeInfo& add_type(const std::string& name) {
        TypeInfo type;
        type.address = Address(handmade_arrays::array_type + 0x100 * heap_.types.size());
        type.name = name;
        type.basicsize = 64;
        return heap_.types.emplace_back(type);
    }
    /// Where an object of the type is laid out.
    std::uint64_t header(const std::string& type) {
        const std::uint64_t at = handmade_arrays::headers_start + 0x400 * count_++;
        headers_.resize(0x400 * count_);
        for (const TypeInfo& known : heap_.types)
            if (known.name == type) put(at + 8, known.address.value);
        return at;
    }
    void put_descr(std::uint64_t descr) {
        put(descr + 8, handmade_arrays::dtype_type);
        put(descr + 24, 'f');
        put(descr + 26, '<');
        put(descr + 28, std::int32_t{12});
        put(descr + 32, std::int32_t{8});
    }
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
