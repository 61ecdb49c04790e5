// The built-in layout tables: one per version and kind of build, read from real builds, never typed by hand.
//
// To add a version, run one command, and add one line to `tables` below (with its extern declaration) and one at
// the end of tool/layout_tables.sh, which makes all tables anew when a field is added.
//
//     heapsift-layout-table --version 3.14 --build "plain 3.14.0" libpython3.14.so.1.0 lib-dynload/*.so
//
// Its output goes into parsers/cpython/layouts/cpython_3_14.cpp. The files are those with .debug_info: first
// the interpreter (libpython, a static python, or its separate .debug file), then the extension modules in
// files of their own; those not needed are not read. `--version 3.14t` is a free-threaded build, `3.14d` a
// debug build, `3.14td` both.
//
// Structs of built-in objects are the same in every build of a minor version (and kind). PyInterpreterState,
// PyThreadState, _PyRuntimeState and the private structs of extension modules are not: a table is right for
// the build it was read from, and its user must prove on the core what it says. That holds even for the
// collector: Debian 13's build of 3.13 declares PyGC_Head with 4-byte alignment, so its gc_state.generations
// is at 20, where other builds have 24, and its list heads are not at multiples of 8. In every version up to
// 3.13, gc_state.generation0 points at the first generation, which settles it.

#include "parsers/cpython/layout.h"

#include <array>
#include <cassert>
#include <type_traits>

namespace heapsift {

extern const Layout cpython_2_7;
extern const Layout cpython_3_6;
extern const Layout cpython_3_7;
extern const Layout cpython_3_8;
extern const Layout cpython_3_9;
extern const Layout cpython_3_10;
extern const Layout cpython_3_11;
extern const Layout cpython_3_12;
extern const Layout cpython_3_13;
extern const Layout cpython_3_13_free_threaded;
extern const Layout cpython_3_14;
extern const Layout cpython_3_15;

namespace {

constexpr const Layout* tables[] = {
    &cpython_2_7,   //
    &cpython_3_6,   //
    &cpython_3_7,   //
    &cpython_3_8,   //
    &cpython_3_9,   //
    &cpython_3_10,  //
    &cpython_3_11,  //
    &cpython_3_12,  //
    &cpython_3_13,  //
    &cpython_3_14,  //
    &cpython_3_15,  //
};

constexpr const Layout* free_threaded_tables[] = {&cpython_3_13_free_threaded};

// The terms of layout_fields.def.
constexpr bool fixed = false, by_build = true;
constexpr LayoutVersions always, sometimes{.every_build = false}, python_2 = until(before_3);

constexpr auto field_names = std::to_array<LayoutFieldName>({
#define LAYOUT_STRUCT(name, dwarf, other, kind, versions)                                                    \
    {#name, {dwarf, other}, "size", {"", ""}, offsetof(Layout, name) + offsetof(name##_layout, size), false, \
     0,     versions,       kind},
#define LAYOUT_FIELD(name, field, path, other, width, versions)                                         \
    {#name, {"", ""}, #field,   {path, other}, offsetof(Layout, name) + offsetof(name##_layout, field), \
     false, width,    versions, false},
#define LAYOUT_BITS(name, field, path, versions)                                                     \
    {#name, {"", ""}, #field,   {path, ""}, offsetof(Layout, name) + offsetof(name##_layout, field), \
     true,  0,        versions, false},
#define LAYOUT_END(name)
#include "parsers/cpython/layout_fields.def"
#undef LAYOUT_STRUCT
#undef LAYOUT_FIELD
#undef LAYOUT_BITS
#undef LAYOUT_END
});

/// Gives every field what layout_fields.def says only once for its struct.
constexpr auto with_struct_names(auto names) {
    for (std::size_t i = 1; i < names.size(); ++i) {
        if (names[i].is_struct_size()) continue;
        names[i].dwarf_struct[0] = names[i - 1].dwarf_struct[0];
        names[i].dwarf_struct[1] = names[i - 1].dwarf_struct[1];
        names[i].by_build = names[i - 1].by_build;
    }
    return names;
}

constexpr auto complete_field_names = with_struct_names(field_names);

template <class Member>
Member& member_at(Layout& layout, const LayoutFieldName& field) {
    static_assert(std::is_trivially_copyable_v<Member>);
    return *reinterpret_cast<Member*>(reinterpret_cast<std::byte*>(&layout) + field.offset_of_member);
}

}  // namespace

std::span<const LayoutFieldName> layout_field_names() { return complete_field_names; }

LayoutOffset& layout_offset(Layout& layout, const LayoutFieldName& field) {
    assert(!field.bits);
    return member_at<LayoutOffset>(layout, field);
}

LayoutBits& layout_bits(Layout& layout, const LayoutFieldName& field) {
    assert(field.bits);
    return member_at<LayoutBits>(layout, field);
}

const LayoutOffset& layout_offset(const Layout& layout, const LayoutFieldName& field) {
    return layout_offset(const_cast<Layout&>(layout), field);
}

const LayoutBits& layout_bits(const Layout& layout, const LayoutFieldName& field) {
    return layout_bits(const_cast<Layout&>(layout), field);
}

LayoutOffset layout_place(const Layout& layout, const LayoutFieldName& field) {
    return field.bits ? layout_bits(layout, field).byte : layout_offset(layout, field);
}

std::span<const Layout* const> all_layouts() { return tables; }

std::span<const Layout* const> free_threaded_layouts() { return free_threaded_tables; }

std::span<const Layout* const> layouts_of_3() {
    constexpr std::size_t of_2 = 1;
    return all_layouts().subspan(of_2);
}

const Layout* builtin_layout(const LayoutVersion& version) {
    for (const Layout* table : version.free_threaded ? free_threaded_layouts() : all_layouts())
        if (table->version == version) return table;
    return nullptr;
}

}  // namespace heapsift
