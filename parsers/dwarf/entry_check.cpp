// The walk over .debug_info that proves it safe to read: every unit lies inside the section and every entry
// inside its unit, and all forms have a known size. Abbreviations are decoded once per table; where all forms
// of an entry have a fixed size, as in most, its size is added up then.

#include "parsers/dwarf/entry_check.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

constexpr std::size_t deepest_tree = 500;  // of entries; LLVM goes down it by recursion

/// Reads forward in a span of bytes. After a read beyond the end, `ok` is false and all values are 0.
struct Cursor {
    std::string_view bytes;
    std::uint64_t at = 0;
    bool ok = true;

    void skip(std::uint64_t count) {
        if (!ok || count > bytes.size() - at)
            ok = false;
        else
            at += count;
    }

    std::uint64_t fixed(unsigned size) {
        const std::uint64_t start = at;
        skip(size);
        std::uint64_t value = 0;
        for (unsigned i = 0; ok && i < size; ++i)
            value |= std::uint64_t{static_cast<unsigned char>(bytes[start + i])} << (8 * i);
        return value;
    }

    std::uint64_t leb128() {
        std::uint64_t value = 0;
        for (unsigned shift = 0;; shift += 7) {
            const std::uint64_t byte = fixed(1);
            if (!ok || shift > 63) {
                ok = false;
                return 0;
            }
            value |= (byte & 0x7f) << shift;
            if ((byte & 0x80) == 0) return value;
        }
    }

    void skip_string() {
        const std::size_t end = bytes.find('\0', at);
        if (end == std::string_view::npos)
            ok = false;
        else
            at = end + 1;
    }
};

// Tables of names; clang-format would put each on its own line.
// clang-format off

/// Forms by their numbers in DWARF 5, table 7.6, and GNU's.
enum Form : std::uint64_t {
    form_addr = 0x01, form_block2 = 0x03, form_block4 = 0x04, form_data2 = 0x05, form_data4 = 0x06, form_data8 = 0x07,
    form_string = 0x08, form_block = 0x09, form_block1 = 0x0a, form_data1 = 0x0b, form_flag = 0x0c, form_sdata = 0x0d,
    form_strp = 0x0e, form_udata = 0x0f, form_ref_addr = 0x10, form_ref1 = 0x11, form_ref2 = 0x12, form_ref4 = 0x13,
    form_ref8 = 0x14, form_ref_udata = 0x15, form_sec_offset = 0x17, form_exprloc = 0x18, form_flag_present = 0x19,
    form_strx = 0x1a, form_addrx = 0x1b, form_ref_sup4 = 0x1c, form_strp_sup = 0x1d, form_data16 = 0x1e, form_line_strp = 0x1f,
    form_ref_sig8 = 0x20, form_implicit_const = 0x21, form_loclistx = 0x22, form_rnglistx = 0x23, form_ref_sup8 = 0x24,
    form_strx1 = 0x25, form_strx2 = 0x26, form_strx3 = 0x27, form_strx4 = 0x28, form_addrx1 = 0x29, form_addrx2 = 0x2a,
    form_addrx3 = 0x2b, form_addrx4 = 0x2c, form_gnu_addr_index = 0x1f01, form_gnu_str_index = 0x1f02, form_gnu_ref_alt = 0x1f20,
    form_gnu_strp_alt = 0x1f21,
};

/// Sizes that differ between units for the same form.
struct UnitSizes {
    unsigned version = 0, address = 0, offset = 0;
};

/// The size of a form whose size does not depend on its value.
std::optional<unsigned> fixed_size(std::uint64_t form, const UnitSizes& unit) {
    switch (form) {
        case form_flag_present: case form_implicit_const: return 0;
        case form_data1: case form_ref1: case form_flag: case form_strx1: case form_addrx1: return 1;
        case form_data2: case form_ref2: case form_strx2: case form_addrx2: return 2;
        case form_strx3: case form_addrx3: return 3;
        case form_data4: case form_ref4: case form_ref_sup4: case form_strx4: case form_addrx4: return 4;
        case form_data8: case form_ref8: case form_ref_sig8: case form_ref_sup8: return 8;
        case form_data16: return 16;
        case form_addr: return unit.address;
        case form_ref_addr: return unit.version <= 2 ? unit.address : unit.offset;
        case form_strp: case form_sec_offset: case form_line_strp: case form_strp_sup: case form_gnu_ref_alt: case form_gnu_strp_alt:
            return unit.offset;
        default: return std::nullopt;
    }
}

/// Skips a value of any other form. False for an unknown form (or an indirect one, which no compiler writes).
bool skip_value(Cursor& cursor, std::uint64_t form) {
    switch (form) {
        case form_block1: cursor.skip(cursor.fixed(1)); return true;
        case form_block2: cursor.skip(cursor.fixed(2)); return true;
        case form_block4: cursor.skip(cursor.fixed(4)); return true;
        case form_block: case form_exprloc: cursor.skip(cursor.leb128()); return true;
        case form_string: cursor.skip_string(); return true;
        case form_sdata: case form_udata: case form_ref_udata: case form_strx: case form_addrx: case form_loclistx: case form_rnglistx:
        case form_gnu_addr_index: case form_gnu_str_index:
            (void)cursor.leb128();
            return true;
        default: return false;
    }
}

// clang-format on

/// One abbreviation: runs of a known number of bytes, each but the last followed by a form of variable size.
struct Abbreviation {
    struct Step {
        std::uint64_t fixed_bytes = 0;
        std::uint64_t variable_form = 0;  // 0 for none
    };
    std::vector<Step> steps;
    bool has_children = false;
};

using AbbreviationTable = std::unordered_map<std::uint64_t, Abbreviation>;

/// The table at `offset` of .debug_abbrev, or none if it is damaged.
std::optional<AbbreviationTable> read_abbreviations(std::string_view abbrev, std::uint64_t offset,
                                                    const UnitSizes& unit) {
    Cursor cursor{abbrev};
    cursor.skip(offset);
    AbbreviationTable table;
    while (const std::uint64_t code = cursor.leb128()) {
        (void)cursor.leb128();  // tag
        Abbreviation entry;
        entry.has_children = cursor.fixed(1) == 1;  // DW_CHILDREN_yes; LLVM takes nothing else
        entry.steps.emplace_back();
        while (cursor.ok) {
            const std::uint64_t attribute = cursor.leb128();
            const std::uint64_t form = cursor.leb128();
            if (attribute == 0 && form == 0) break;
            if (form == form_implicit_const) (void)cursor.leb128();
            if (const auto size = fixed_size(form, unit)) {
                entry.steps.back().fixed_bytes += *size;
            } else {
                entry.steps.back().variable_form = form;
                entry.steps.emplace_back();
            }
        }
        if (!cursor.ok) return std::nullopt;
        table.emplace(code, std::move(entry));
    }
    if (!cursor.ok) return std::nullopt;
    return table;
}

/// A unit's header: where its entries are, and how to read them.
struct Unit {
    UnitSizes sizes;
    std::uint64_t abbreviations = 0;
    Cursor entries;  // ends where the unit ends
};

/// Reads the header at `cursor` and moves it to the next unit. None if the header makes no sense.
std::optional<Unit> read_unit(Cursor& cursor, bool debug_types) {
    enum UnitType : std::uint64_t {  // DWARF 5, table 7.2
        type_unit = 2,
        skeleton = 4,
        split_compile = 5,
        split_type = 6
    };
    Unit unit;
    std::uint64_t length = cursor.fixed(4);
    unit.sizes.offset = length == 0xffffffff ? 8 : 4;
    if (unit.sizes.offset == 8) length = cursor.fixed(8);
    const std::uint64_t start = cursor.at;
    cursor.skip(length);
    if (!cursor.ok) return std::nullopt;
    Cursor entries{cursor.bytes.substr(0, start + length), start};
    unit.sizes.version = static_cast<unsigned>(entries.fixed(2));
    if (unit.sizes.version < 2 || unit.sizes.version > 5) return std::nullopt;
    if (unit.sizes.version == 5) {
        const std::uint64_t type = entries.fixed(1);
        unit.sizes.address = static_cast<unsigned>(entries.fixed(1));
        unit.abbreviations = entries.fixed(unit.sizes.offset);
        if (type == type_unit || type == split_type)
            entries.skip(8 + unit.sizes.offset);                         // signature, offset of the type
        if (type == skeleton || type == split_compile) entries.skip(8);  // id
    } else {
        unit.abbreviations = entries.fixed(unit.sizes.offset);
        unit.sizes.address = static_cast<unsigned>(entries.fixed(1));
        if (debug_types) entries.skip(8 + unit.sizes.offset);  // signature, offset of the type
    }
    if (!entries.ok || (unit.sizes.address != 4 && unit.sizes.address != 8)) return std::nullopt;
    unit.entries = entries;
    return unit;
}

bool entries_stay_inside(Cursor entries, const AbbreviationTable& table, bool whole_trees) {
    std::size_t depth = 0, read = 0;
    while (entries.ok && entries.at < entries.bytes.size()) {
        const std::uint64_t code = entries.leb128();
        if (code == 0) {  // the end of some entry's children; at depth 0, padding
            if (depth > 0) --depth;
            continue;
        }
        const auto found = table.find(code);
        if (found == table.end()) return false;
        if (whole_trees && (depth > deepest_tree || (depth == 0 && read > 0))) return false;
        ++read;
        if (found->second.has_children) ++depth;
        for (const Abbreviation::Step& step : found->second.steps) {
            entries.skip(step.fixed_bytes);
            if (step.variable_form != 0 && !skip_value(entries, step.variable_form)) return false;
        }
    }
    return entries.ok && (!whole_trees || (depth == 0 && read > 0));
}

/// Skips a list of directories or files of a version-5 header: a description of its fields, then the entries.
bool skip_names(Cursor& cursor, const UnitSizes& sizes) {
    std::vector<std::uint64_t> forms;
    for (std::uint64_t fields = cursor.fixed(1); fields > 0 && cursor.ok; --fields) {
        (void)cursor.leb128();  // what it is
        forms.push_back(cursor.leb128());
    }
    const std::uint64_t count = cursor.leb128();
    if (forms.empty()) return cursor.ok && count == 0;
    for (std::uint64_t i = 0; i < count && cursor.ok; ++i) {
        const std::uint64_t start = cursor.at;
        for (const std::uint64_t form : forms) {
            if (const auto size = fixed_size(form, sizes))
                cursor.skip(*size);
            else if (!skip_value(cursor, form))
                return false;
        }
        if (cursor.at == start) return false;  // entries of no bytes, and any number of them
    }
    return cursor.ok;
}

}  // namespace

bool sound_line_table(std::string_view lines, std::uint64_t offset) {
    Cursor cursor{lines};
    cursor.skip(offset);
    const std::uint64_t length = cursor.fixed(4);
    Cursor table{lines.substr(0, std::min<std::uint64_t>(lines.size(), cursor.at + length)), cursor.at};
    cursor.skip(length);
    UnitSizes sizes;
    sizes.version = static_cast<unsigned>(table.fixed(2));
    sizes.offset = 4;
    if (!cursor.ok || length >= 0xfffffff0 || sizes.version < 2 || sizes.version > 5) return false;
    if (sizes.version == 5) {
        sizes.address = static_cast<unsigned>(table.fixed(1));
        if ((sizes.address != 4 && sizes.address != 8) || table.fixed(1) != 0) return false;
    }
    table.skip(4);                           // length of the header
    table.skip(sizes.version >= 4 ? 3 : 2);  // bytes of an instruction, operations in one, is it a statement
    table.skip(1);                           // lowest line increment
    const std::uint64_t range = table.fixed(1);    // of line increments
    const std::uint64_t opcodes = table.fixed(1);  // first special one
    if (!table.ok || range == 0 || opcodes == 0) return false;
    table.skip(opcodes - 1);
    if (sizes.version < 5) return table.ok;
    return skip_names(table, sizes) && skip_names(table, sizes);
}

std::string damage_in_entries(std::string_view info, std::string_view abbrev, bool debug_types,
                              bool whole_trees) {
    Cursor cursor{info};
    while (cursor.at < info.size()) {
        const std::string where = " of the unit at offset " + std::to_string(cursor.at);
        const auto unit = read_unit(cursor, debug_types);
        if (!unit) return "damaged debug information: header" + where;
        const auto table = read_abbreviations(abbrev, unit->abbreviations, unit->sizes);
        if (!table) return "damaged debug information: abbreviations" + where;
        if (!entries_stay_inside(unit->entries, *table, whole_trees))
            return "damaged debug information: entries" + where;
    }
    return {};
}

}  // namespace heapsift
