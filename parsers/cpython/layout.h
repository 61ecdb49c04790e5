#pragma once

// Offsets for one interpreter build, under CPython's own names. A field that a build lacks is absent, never
// 0: code asks for the field, not for the version. layout_fields.def lists the fields.

#include "parsers/cpython/build/python_version.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>

namespace heapsift {

/// A byte offset from the start of its struct (or, as a struct's `size`, its length in bytes). May be absent.
class LayoutOffset {
public:
    constexpr LayoutOffset() = default;
    constexpr LayoutOffset(std::uint32_t bytes)
        : bytes_(bytes) {}  // NOLINT: tables are written `.ob_item = 24`
    constexpr bool present() const { return bytes_ != absent; }
    /// The offset. Requires present().
    constexpr std::uint32_t operator*() const {
        assert(present());
        return bytes_;
    }
    constexpr std::uint32_t or_else(std::uint32_t other) const { return present() ? bytes_ : other; }
    constexpr bool operator==(const LayoutOffset&) const = default;

private:
    static constexpr std::uint32_t absent = 0xffffffff;
    std::uint32_t bytes_ = absent;
};

/// A bit field: the byte of its first bit, that bit's place in the byte, and its width in bits (at most 32).
struct LayoutBits {
    LayoutOffset byte;
    std::uint8_t bit = 0;
    std::uint8_t width = 0;
    constexpr bool present() const { return byte.present(); }
    constexpr bool operator==(const LayoutBits&) const = default;
};

// One struct `<name>_layout` each, and one member of Layout each.
#define LAYOUT_STRUCT(name, dwarf, other, kind, versions) \
    struct name##_layout {                                \
        LayoutOffset size;
#define LAYOUT_FIELD(name, field, path, other, width, versions) LayoutOffset field;
#define LAYOUT_BITS(name, field, path, versions) LayoutBits field;
#define LAYOUT_END(name) \
    }                    \
    ;
#include "parsers/cpython/layout_fields.def"
#undef LAYOUT_STRUCT
#undef LAYOUT_FIELD
#undef LAYOUT_BITS
#undef LAYOUT_END

struct Layout {
    LayoutVersion version;
    const char* build_id = "";  // of the interpreter that a built-in table was read from, in hex; else empty
#define LAYOUT_STRUCT(name, dwarf, other, kind, versions) name##_layout name;
#define LAYOUT_FIELD(name, field, path, other, width, versions)
#define LAYOUT_BITS(name, field, path, versions)
#define LAYOUT_END(name)
#include "parsers/cpython/layout_fields.def"
#undef LAYOUT_STRUCT
#undef LAYOUT_FIELD
#undef LAYOUT_BITS
#undef LAYOUT_END
};

/// A line of layout_fields.def, for code that reads or writes whole layouts. `offset_of_member` is where the
/// LayoutOffset (or LayoutBits) lies in Layout.
struct LayoutFieldName {
    const char* struct_name;      // "list"
    const char* dwarf_struct[2];  // {"PyListObject", ""}
    const char* field_name;       // "ob_item"; "size" for the struct's own size
    const char* dwarf_path[2];    // {"ob_item", ""}; {"", ""} for the size
    std::size_t offset_of_member;
    bool bits;
    std::uint32_t width;  // bytes of the member; 0 for an array, a bit field and the size
    LayoutVersions versions;
    bool by_build;  // whether the struct differs between builds of a version

    constexpr bool is_struct_size() const { return dwarf_path[0][0] == '\0'; }
};
/// Struct by struct, each struct's size first.
std::span<const LayoutFieldName> layout_field_names();

/// The LayoutOffset or LayoutBits of `layout` that `field` names.
const LayoutOffset& layout_offset(const Layout& layout, const LayoutFieldName& field);
const LayoutBits& layout_bits(const Layout& layout, const LayoutFieldName& field);
LayoutOffset& layout_offset(Layout& layout, const LayoutFieldName& field);
LayoutBits& layout_bits(Layout& layout, const LayoutFieldName& field);
/// Where the field begins, whether it is a bit field or not; may be absent.
LayoutOffset layout_place(const Layout& layout, const LayoutFieldName& field);

/// The built-in table for a version, or null. heapsift-layout-table makes the tables in layouts/ from real
/// builds.
const Layout* builtin_layout(const LayoutVersion& version);
/// Those of builds with the GIL, by version.
std::span<const Layout* const> all_layouts();
/// Those of free-threaded builds, by version.
std::span<const Layout* const> free_threaded_layouts();
/// Those of CPython 3.
std::span<const Layout* const> layouts_of_3();

}  // namespace heapsift
