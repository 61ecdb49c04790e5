#pragma once

// What is known of static types before a core is opened: names for cores whose program files are not at hand.
// The tables are written by tool/type_names.py from real interpreters (and, for shapes,
// tool/type_shapes.cpp).

#include <cstdint>
#include <span>

namespace heapsift {

/// In the image with this build-id, `offset` bytes above its load bias, lies the static type of this tp_name.
/// Sorted by both.
struct TypeNameAt {
    const char* build_id;
    std::uint32_t offset;
    const char* name;
};
std::span<const TypeNameAt> type_names_by_place();

/// In 3.`minor` the module's dictionary entry `plain` ("types.CodeType"; a bare key for builtins) is the type
/// of this tp_name. Sorted by both; entries whose name is `plain` itself are left out.
struct TypeAlias {
    const char* plain;
    int minor;
    const char* name;
};
std::span<const TypeAlias> type_aliases();

/// The static builtin types of 3.12 and later, by their number in the interpreter, from 1.
struct TypeNumber {
    int minor;
    std::uint32_t number;
    const char* name;
};
std::span<const TypeNumber> type_numbers();

/// A static type of this tp_name in 3.`minor` has this shape (type_shape.h). Sorted by shape, then minor;
/// shapes that types of several names have in the same minor are left out.
struct TypeShape {
    std::uint64_t shape;
    int minor;
    const char* name;
};
std::span<const TypeShape> type_shapes();

}  // namespace heapsift
