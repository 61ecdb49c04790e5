#pragma once

// What is known of static types before a core is opened: names, for cores whose program files are missing.
// tool/type_names.py writes the tables from real interpreters (with tool/type_shapes.cpp for the shapes). The minor
// version of 2.7 is -1 (before_3).

#include <cstdint>
#include <span>

namespace heapsift {

/// In the image with this build-id, the static type with this tp_name lies `offset` bytes above the load
/// bias. Sorted by both.
struct TypeNameAt {
    const char* build_id;
    std::uint32_t offset;
    const char* name;
};
std::span<const TypeNameAt> type_names_by_place();

/// In 3.`minor` the entry `plain` of a module's dictionary ("types.CodeType"; a bare key for builtins) is the
/// type with this tp_name. Sorted by both. Entries where the name is `plain` itself are left out.
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

/// In 3.`minor` a static type with this tp_name has this shape (type_shape.h). Sorted by shape, then minor.
/// Shapes that types of several names share in the same minor are left out.
struct TypeShape {
    std::uint64_t shape;
    int minor;
    const char* name;
};
std::span<const TypeShape> type_shapes();

}  // namespace heapsift
