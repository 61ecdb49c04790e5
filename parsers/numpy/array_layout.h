#pragma once

// PyArrayObject_fields and PyArray_Descr. Unlike CPython's private structs, these are part of NumPy's ABI:
// stable from 1.19 to 2.x, except that the descriptor grew in 2.0. The type's own tp_basicsize tells the
// variants apart. Source: numpy/ndarraytypes.h of 1.24 and 2.2; offsets read from the memory of running
// processes.

#include "parsers/cpython/object_kind.h"

#include <array>
#include <string>
#include <vector>

namespace heapsift {

inline constexpr std::uint32_t array_flag_owns_data = 4;
// PyVoidScalarObject: an element of a record array. Its bytes are its own or its base's.
inline constexpr std::uint64_t void_obval = 24, void_descr = 32, void_flags = 40, void_base = 48;
inline constexpr std::int32_t max_dimensions = 64;  // 32 up to NumPy 1.x

/// One array's own fields, checked: nothing if the number of dimensions is absurd or the dimensions cannot be
/// read.
struct ArrayFacts {
    Address data;
    std::int32_t nd = 0;
    std::array<std::int64_t, max_dimensions> shape{};
    Address dimensions;  // the block that holds shape and strides
    Address base, descr;
    std::uint32_t flags = 0;
    std::uint64_t itemsize = 0;
    std::uint64_t nbytes = 0;  // itemsize times the product of the shape; 0 where that overflows
    bool owns_data() const { return (flags & array_flag_owns_data) != 0; }
};

std::optional<ArrayFacts> array_facts(const ObjectReader& array);

/// The bytes from one element to the next, for each dimension. Nothing if they are not in the core.
std::optional<std::vector<std::int64_t>> array_strides(const ObjectReader& array, const ArrayFacts& facts);

/// Whether bytes between its first and last element are known to be missing from the core (excluded from
/// dumping, or pages of a file).
bool array_lacks_bytes(const ObjectReader& array, const ArrayFacts& facts);

/// The object whose buffer the elements are in. That is the array itself if it owns its data, else the end of
/// the chain of bases: an array, a bytes, an mmap. A memoryview leads to what it was made of, a record that
/// is a view to its array, and what NumPy makes for a window (as_strided, sliding_window_view) to the array
/// behind it. Null if the chain names nobody (memory lent by C code), or does not end.
Address array_owner(const ObjectReader& array);

/// A numpy.void scalar, which shows an element of an array.
struct VoidFacts {
    Address data, base;
    std::uint64_t itemsize = 0;
};

/// Nothing if its dtype cannot be read.
std::optional<VoidFacts> void_facts(const ObjectReader& scalar);

struct DescrFacts {
    std::uint64_t itemsize = 0;
    char kind = '?';  // 'f'
    char byteorder = '=';
    std::int32_t type_num = -1;
    Address fields, names;  // null or None if it has none
    Address subarray;       // of a dtype with a shape: a pair of its base and its shape
    Address user_metadata;  // the dict of `dtype.metadata`
    Address na_object;      // of a StringDType
    bool has_objects = false;
    Address metadata;  // c_metadata, the unit of datetime64 and timedelta64; null without one
    /// "float64", "int32", "object", "str160", "void24".
    std::string name() const;
};

std::optional<DescrFacts> descr_facts(const PythonHeap& heap, Address descr);

inline constexpr std::uint64_t most_object_places = 4096;

/// The offsets of objects in one element: {0} for dtype('O'), the object fields of a structured dtype
/// (including those of nested dtypes).
std::vector<std::uint64_t> object_places(const PythonHeap& heap, Address descr);

/// How Python reaches the object at a byte of the array's data: "[3]", "[1, 2]", "[()]", "[3]['field']";
/// "<element>" if no index leads there.
std::string element_name(const ObjectReader& array, std::uint64_t place);

/// What `dtype.str` returns: "<f8", "|O", "<U40", "<M8[ns]", "|V24".
std::string descr_str(const PythonHeap& heap, const DescrFacts& descr);

/// "(500, 32, 32, 3)"
std::string shape_text(const ArrayFacts& array);

}  // namespace heapsift
