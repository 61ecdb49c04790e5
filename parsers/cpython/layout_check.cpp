#include "parsers/cpython/layout_check.h"

// A layout is checked before it is trusted.
//
// The problem: offsets come from files and from the core itself, and either can be damaged: a broken strip
// renames a member, a number changes. One wrong offset in a structure that leads to all others (the header of
// a pool, the collector's) loses the heap, and makes sound memory look damaged. The idea: some things hold
// for every CPython. layout_fields.def says how wide each field is and which versions have it. The version's
// built-in table says which fields share their bytes (unions, a struct and its first member) and, for the
// structs declared `fixed`, where everything lies: debug builds and the releases of Debian and others agree
// on all of these, and differ in other structs only if the size differs too. So a struct from debug
// information is used if it is sound; where it contradicts the table in what is fixed, it has to be proved.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

namespace heapsift {
namespace {

using Fields = std::span<const LayoutFieldName>;

/// Calls `visit(size, members)` for each struct.
template <class F>
void visit_structs(F&& visit) {
    const Fields all = layout_field_names();
    for (std::size_t first = 0; first < all.size();) {
        std::size_t end = first + 1;
        while (end < all.size() && !all[end].is_struct_size()) ++end;
        visit(all[first], all.subspan(first + 1, end - first - 1));
        first = end;
    }
}

/// The bytes in which a field lies; empty if it is absent, or only its start is known.
struct Bytes {
    std::uint64_t begin = 0, end = 0;
    bool overlap(const Bytes& other) const { return begin < other.end && other.begin < end; }
};

Bytes bytes_of(const Layout& layout, const LayoutFieldName& field) {
    const LayoutOffset place = layout_place(layout, field);
    if (!place.present()) return {};
    if (!field.bits) return {*place, std::uint64_t{*place} + field.width};
    const LayoutBits& bits = layout_bits(layout, field);
    return {*place, *place + (std::uint64_t{bits.bit} + bits.width + 7) / 8};
}

std::optional<std::string> fault_in(const Layout& layout, const Layout& table, const LayoutFieldName& size,
                                    Fields members) {
    const std::uint64_t room = *layout_offset(layout, size);
    for (const LayoutFieldName& field : members) {
        const LayoutOffset place = layout_place(layout, field);
        if (!place.present()) {
            // 2.7 is one version: it has what its table has. So does a build without the GIL, which lacks
            // some of its version's fields.
            const bool by_table = is_python_2(layout.version) || layout.version.free_threaded;
            const bool required = by_table
                                      ? field.versions.every_build && layout_place(table, field).present()
                                      : field.versions.require(layout.version);
            if (required) return fmt::format("{} is not in it", field.field_name);
            continue;
        }
        // An array may begin where the struct ends.
        if (std::max<std::uint64_t>(bytes_of(layout, field).end, *place) > room)
            return fmt::format("{}, at {}, does not lie in its {} bytes", field.field_name, *place, room);
    }
    for (std::size_t i = 0; i < members.size(); ++i)
        for (std::size_t j = i + 1; j < members.size(); ++j) {
            // Bits of one byte are distinguished by their bit numbers.
            if (members[i].bits && members[j].bits) continue;
            if (bytes_of(layout, members[i]).overlap(bytes_of(layout, members[j])) &&
                !bytes_of(table, members[i]).overlap(bytes_of(table, members[j])))
                return fmt::format("{} and {} overlap", members[i].field_name, members[j].field_name);
        }
    return std::nullopt;
}

std::string place_text(const Layout& layout, const LayoutFieldName& field) {
    const LayoutOffset place = layout_place(layout, field);
    return place.present() ? fmt::format("at {}", *place) : std::string("nowhere");
}

/// Fields that runtime.cpp finds by their content, wherever a layout has them.
bool is_found_in_core(const LayoutFieldName& field) {
    const std::string_view name = field.field_name;
    return (name == "generations" && field.struct_name == std::string_view("gc_state")) ||
           name == "types_builtins" || name == "types_for_extensions";
}

/// The first difference from the table; nothing if there is none.
std::optional<std::string> difference_in(const Layout& layout, const Layout& table,
                                         const LayoutFieldName& size, Fields members) {
    const auto others =
        fmt::format("other builds of CPython {}.{}", table.version.major, table.version.minor);
    for (const LayoutFieldName& field : members) {
        const bool same = field.bits ? layout_bits(layout, field) == layout_bits(table, field)
                                     : layout_offset(layout, field) == layout_offset(table, field);
        if (!same && layout_place(layout, field).present() && !is_found_in_core(field))
            return fmt::format("{} {}, where {} have it {}", field.field_name, place_text(layout, field),
                               others, place_text(table, field));
    }
    if (layout_offset(layout, size) != layout_offset(table, size))
        return fmt::format("{} bytes, where {} have {}", *layout_offset(layout, size), others,
                           layout_offset(table, size).or_else(0));
    return std::nullopt;
}

void take_field(Layout& layout, const Layout& other, const LayoutFieldName& field, bool absent_too) {
    if (!absent_too && !layout_place(other, field).present()) return;
    if (field.bits)
        layout_bits(layout, field) = layout_bits(other, field);
    else
        layout_offset(layout, field) = layout_offset(other, field);
}

}  // namespace

std::vector<LayoutFault> layout_faults(const Layout& layout, const Layout& table) {
    std::vector<LayoutFault> faults;
    visit_structs([&](const LayoutFieldName& size, Fields members) {
        if (!layout_offset(layout, size).present()) return;
        if (auto what = fault_in(layout, table, size, members))
            faults.push_back({size.struct_name, std::move(*what)});
    });
    return faults;
}

CompletedLayout completed_layout(const Layout& table, const Layout& read) {
    CompletedLayout result{table, {}, {}};
    result.layout.version = read.version;
    visit_structs([&](const LayoutFieldName& size, Fields members) {
        if (!layout_offset(read, size).present()) return;
        if (auto what = fault_in(read, table, size, members)) {
            result.refused.push_back({size.struct_name, std::move(*what)});
            return;
        }
        const bool has_table = layout_offset(table, size).present();
        auto difference = has_table ? difference_in(read, table, size, members) : std::nullopt;
        // A struct that depends on the build, and grew or shrank, may have its members elsewhere.
        const bool is_another = size.by_build && layout_offset(read, size) != layout_offset(table, size);
        if (difference && !is_another) {
            result.differing.push_back({size.struct_name, std::move(*difference)});
            return;
        }
        take_field(result.layout, read, size, false);
        // Fields that not every build has: if this build lacks one, it stays absent.
        for (const LayoutFieldName& field : members)
            take_field(result.layout, read, field, !field.versions.every_build);
    });
    return result;
}

void take_struct(Layout& layout, const Layout& other, std::string_view struct_name) {
    for (const LayoutFieldName& field : layout_field_names())
        if (field.struct_name == struct_name) take_field(layout, other, field, false);
}

}  // namespace heapsift
