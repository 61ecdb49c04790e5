// Struct layouts from DWARF, with LLVM.
//
// Only the direct children of each unit matter: C knows no nested type names. Paths are resolved as soon as a definition is seen,
// so that nothing of LLVM outlives the search; units are read one after the other, until every request has its best name.
//
// The input may be damaged. LLVM reports much of that as Error, consumed here. What it would crash on is checked before: entries
// that run out of their unit (entry_check.h), a compressed section that claims to be huge. Chains of typedefs and nested members,
// which could be loops, are followed for a bounded number of steps. Relocations are ignored: linked files need none for their
// types.
//
// Not read: type entries that dwz moved to a file shared by several packages (.gnu_debugaltlink), and split DWARF (.dwo).

#include "parsers/dwarf/struct_layouts.h"

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/DebugInfo/DWARF/DWARFFormValue.h>
#include <llvm/Object/BuildID.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "parsers/dwarf/entry_check.h"

namespace heapsift {
namespace {

using llvm::DWARFDie;
using Elf64Le = llvm::object::ELF64LEObjectFile;
namespace dwarf = llvm::dwarf;

constexpr int most_steps = 32;         // of a typedef chain; real code has a handful
constexpr int most_aggregates = 1000;  // looked into for one name; they could contain each other

/// LLVM's messages end in a newline or a period at times; ours do not.
std::string explanation(llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
    return text;
}

// ---- members ------------------------------------------------------------------------------------------------------------------

/// `type` without typedefs and qualifiers.
DWARFDie underlying(DWARFDie type) {
    for (int step = 0; type && step < most_steps; ++step) {
        switch (type.getTag()) {
            case dwarf::DW_TAG_typedef:
            case dwarf::DW_TAG_const_type:
            case dwarf::DW_TAG_volatile_type:
            case dwarf::DW_TAG_restrict_type:
            case dwarf::DW_TAG_atomic_type:
                type = type.getAttributeValueAsReferencedDie(dwarf::DW_AT_type);
                break;
            default:
                return type;
        }
    }
    return {};
}

DWARFDie type_of(const DWARFDie& die) { return underlying(die.getAttributeValueAsReferencedDie(dwarf::DW_AT_type)); }

bool is_aggregate(const DWARFDie& die) {
    if (!die) return false;
    const dwarf::Tag tag = die.getTag();
    return tag == dwarf::DW_TAG_structure_type || tag == dwarf::DW_TAG_union_type || tag == dwarf::DW_TAG_class_type;
}

std::optional<std::uint64_t> unsigned_attribute(const DWARFDie& die, dwarf::Attribute attribute) {
    const auto value = die.find(attribute);
    if (!value) return std::nullopt;
    if (const auto number = value->getAsUnsignedConstant()) return *number;
    if (const auto number = value->getAsSignedConstant(); number && *number >= 0) return static_cast<std::uint64_t>(*number);
    return std::nullopt;
}

/// DW_AT_data_member_location: a constant, or (up to DWARF 3) an expression that adds one. A union's members have none.
std::uint64_t member_location(const DWARFDie& member) {
    if (const auto number = unsigned_attribute(member, dwarf::DW_AT_data_member_location)) return *number;
    const auto value = member.find(dwarf::DW_AT_data_member_location);
    if (!value) return 0;
    const auto block = value->getAsBlock();
    if (!block || block->size() < 2 || (*block)[0] != dwarf::DW_OP_plus_uconst) return 0;
    std::uint64_t offset = 0;
    unsigned shift = 0;
    for (const std::uint8_t byte : block->drop_front()) {
        if (shift >= 64) break;
        offset |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
        shift += 7;
        if ((byte & 0x80) == 0) break;
    }
    return offset;
}

/// What the entry itself says; 0 for an array, whose entry says nothing.
std::uint64_t size_of_type(const DWARFDie& type) {
    if (!type) return 0;
    if (const auto size = unsigned_attribute(type, dwarf::DW_AT_byte_size)) return *size;
    return type.getTag() == dwarf::DW_TAG_pointer_type ? type.getDwarfUnit()->getAddressByteSize() : 0;
}

/// The place of `member` in the struct that it is a child of.
MemberPlace place_in_parent(const DWARFDie& member) {
    const DWARFDie type = type_of(member);
    MemberPlace place;
    place.byte = member_location(member);
    place.byte_size = size_of_type(type);
    const auto width = unsigned_attribute(member, dwarf::DW_AT_bit_size);
    if (!width) return place;
    place.bit_width = static_cast<unsigned>(*width);
    if (const auto bits = unsigned_attribute(member, dwarf::DW_AT_data_bit_offset)) {
        // DWARF 4 and later: counted from the start of the struct, in memory order (least significant first on x86).
        place.byte = *bits / 8;
        place.bit = static_cast<unsigned>(*bits % 8);
    } else if (const auto from_top = unsigned_attribute(member, dwarf::DW_AT_bit_offset)) {
        // DWARF 2 and 3: counted down from the most significant bit of a storage unit that lies at data_member_location.
        const std::uint64_t unit_bits = unsigned_attribute(member, dwarf::DW_AT_byte_size).value_or(place.byte_size) * 8;
        const std::uint64_t low = unit_bits >= *from_top + *width ? unit_bits - *from_top - *width : 0;
        place.byte += low / 8;
        place.bit = static_cast<unsigned>(low % 8);
    }
    return place;
}

struct FoundMember {
    DWARFDie die;
    MemberPlace place;  // from the start of the struct that was searched
};

/// Calls `see` with each child of `die`, until it returns false. (LLVM's own range relies on the entry that ends the children,
/// which a damaged unit may lack.)
template <class See>
void for_each_child(const DWARFDie& die, See see) {
    for (DWARFDie child = die.getFirstChild(); child && child.getTag() != dwarf::DW_TAG_null; child = child.getSibling())
        if (!see(child)) return;
}

/// The member called `name` of `aggregate`, also inside its anonymous members.
std::optional<FoundMember> find_member(const DWARFDie& aggregate, std::string_view name, int& aggregates_left) {
    if (!is_aggregate(aggregate) || aggregates_left-- <= 0) return std::nullopt;
    std::optional<FoundMember> found;
    for_each_child(aggregate, [&](const DWARFDie& child) {
        if (child.getTag() != dwarf::DW_TAG_member) return true;
        const char* child_name = child.getShortName();
        if (child_name != nullptr && *child_name != '\0') {
            if (name == child_name) found = FoundMember{child, place_in_parent(child)};
        } else if ((found = find_member(type_of(child), name, aggregates_left))) {
            found->place.byte += member_location(child);
        }
        return !found;
    });
    return found;
}

/// Follows one path from `aggregate`. None where a name on it is missing.
std::optional<MemberPlace> resolve_path(DWARFDie aggregate, std::string_view path) {
    MemberPlace place;
    std::uint64_t start = 0;
    while (!path.empty()) {
        const std::size_t dot = path.find('.');
        std::string_view name = path.substr(0, dot);
        path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
        const bool element = name.ends_with("[]");
        if (element) name.remove_suffix(2);
        int aggregates_left = most_aggregates;
        const auto member = find_member(aggregate, name, aggregates_left);
        if (!member) return std::nullopt;
        place = member->place;
        place.byte += start;
        start = place.byte;
        aggregate = type_of(member->die);
        if (element) {
            if (!aggregate || aggregate.getTag() != dwarf::DW_TAG_array_type) return std::nullopt;
            aggregate = type_of(aggregate);
            place.byte_size = size_of_type(aggregate);
        }
    }
    return place;
}

// ---- definitions --------------------------------------------------------------------------------------------------------------

/// What the names of the requests stand for, and what was found for them in one file.
class Search {
public:
    Search(std::span<const StructRequest> requests, const std::vector<std::optional<StructPlace>>& known) : requests_(requests) {
        for (std::size_t request = 0; request < requests.size(); ++request) {
            found_.emplace_back(requests[request].names.size());
            if (known[request]) continue;
            for (std::size_t name = 0; name < requests[request].names.size(); ++name)
                wanted_.emplace(requests[request].names[name], Slot{request, name});
            ++missing_;
        }
    }

    /// True when no further unit can improve the answer: every request has its best name.
    bool complete() const { return missing_ == 0; }

    /// Looks at a direct child of a unit.
    void look_at(const DWARFDie& die) {
        const dwarf::Tag tag = die.getTag();
        if (tag != dwarf::DW_TAG_typedef && !is_aggregate(die)) return;
        const char* name = die.getShortName();
        if (name == nullptr) return;
        const auto [first, last] = wanted_.equal_range(name);
        for (auto slot = first; slot != last; ++slot) define(slot->second, name, die);
    }

    /// The best name's definition of each request.
    std::optional<StructPlace> take(std::size_t request) {
        for (auto& place : found_[request])
            if (place) return std::move(place);
        return std::nullopt;
    }

private:
    struct Slot {
        std::size_t request, name;
    };

    void define(const Slot& slot, const char* name, const DWARFDie& die) {
        auto& place = found_[slot.request][slot.name];
        if (place) return;
        const DWARFDie definition = underlying(die);
        if (!is_aggregate(definition) || definition.find(dwarf::DW_AT_declaration)) return;
        const auto size = unsigned_attribute(definition, dwarf::DW_AT_byte_size);
        if (!size) return;
        place.emplace();
        place->name = name;
        place->byte_size = *size;
        for (const auto& paths : requests_[slot.request].members) {
            auto& member = place->members.emplace_back();
            for (const std::string& path : paths)
                if (!path.empty() && (member = resolve_path(definition, path))) break;
        }
        if (slot.name == 0) --missing_;
    }

    std::span<const StructRequest> requests_;
    std::unordered_multimap<std::string_view, Slot> wanted_;
    std::vector<std::vector<std::optional<StructPlace>>> found_;
    std::size_t missing_ = 0;
};

// ---- files --------------------------------------------------------------------------------------------------------------------

/// An open ELF file of the only kind that is read here: 64-bit, little endian. The buffer is mapped and must outlive the object.
struct OpenFile {
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    std::unique_ptr<llvm::object::ObjectFile> object;
    const Elf64Le* elf = nullptr;
};

/// Opens `path`; `problem` says why not.
std::optional<OpenFile> open_elf(const std::string& path, std::string& problem) {
    OpenFile file;
    auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    if (!buffer) {
        problem = buffer.getError().message();
        return std::nullopt;
    }
    file.buffer = std::move(*buffer);
    if (!file.buffer->getBuffer().starts_with("\177ELF")) {
        problem = "not an ELF file";
        return std::nullopt;
    }
    auto object = llvm::object::ObjectFile::createELFObjectFile(file.buffer->getMemBufferRef());
    if (!object) {
        problem = explanation(object.takeError());
        return std::nullopt;
    }
    file.object = std::move(*object);
    file.elf = llvm::dyn_cast<Elf64Le>(file.object.get());
    if (file.elf == nullptr) {
        problem = "not a 64-bit little-endian ELF file";
        return std::nullopt;
    }
    return file;
}

/// Why the debug sections cannot be read, or nothing. LLVM allocates what a compressed section's header claims, and ends the
/// process when that fails: so a claim must be credible. Deflate reaches 1032:1, and debug information some 10:1.
std::string check_sections(const OpenFile& file) {
    constexpr std::uint64_t most_bytes = std::uint64_t{1} << 32;
    constexpr std::uint64_t most_ratio = 1100;
    const auto& elf = file.elf->getELFFile();
    auto sections = elf.sections();
    if (!sections) return explanation(sections.takeError());
    bool has_info = false;
    for (const auto& section : *sections) {
        auto name = elf.getSectionName(section);
        if (!name) return explanation(name.takeError());
        if (section.sh_type == llvm::ELF::SHT_NOBITS) continue;
        has_info = has_info || *name == ".debug_info";
        // LLVM unpacks whatever is marked as compressed, whatever its name.
        if ((section.sh_flags & llvm::ELF::SHF_COMPRESSED) == 0) continue;
        auto bytes = elf.getSectionContents(section);
        if (!bytes) return explanation(bytes.takeError());
        if (bytes->size() < sizeof(llvm::ELF::Elf64_Chdr))
            return "section " + name->str() + " is too short for its compression header";
        std::uint64_t claimed = 0;
        for (int byte = 7; byte >= 0; --byte) claimed = claimed << 8 | (*bytes)[offsetof(llvm::ELF::Elf64_Chdr, ch_size) + byte];
        if (claimed > most_bytes || claimed / most_ratio > bytes->size())
            return "section " + name->str() + " claims to be " + std::to_string(claimed) + " bytes unpacked";
    }
    return has_info ? "" : "no debug information (.debug_info)";
}

std::string hex(llvm::ArrayRef<std::uint8_t> bytes) {
    constexpr char digits[] = "0123456789abcdef";
    std::string text;
    for (const std::uint8_t byte : bytes) {
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

/// Searches one file; the first thing that LLVM complained about, if any, becomes its problem.
void search_file(DebugInfoFile& report, Search& search) {
    const auto file = open_elf(report.path, report.problem);
    if (!file) return;
    report.build_id = hex(llvm::object::getBuildID(file->object.get()));
    report.problem = check_sections(*file);
    if (!report.problem.empty()) return;
    const auto complain = [&report](llvm::Error error) {
        std::string text = explanation(std::move(error));
        if (report.problem.empty()) report.problem = std::move(text);
    };
    const auto context = llvm::DWARFContext::create(*file->object, llvm::DWARFContext::ProcessDebugRelocations::Ignore, nullptr,
                                                    "", complain, complain);
    const llvm::DWARFObject& sections = context->getDWARFObj();
    const auto check = [&](const llvm::DWARFSection& section, bool debug_types) {
        if (report.problem.empty()) report.problem = damage_in_entries(section.Data, sections.getAbbrevSection(), debug_types);
    };
    sections.forEachInfoSections([&](const llvm::DWARFSection& section) { check(section, false); });
    sections.forEachTypesSections([&](const llvm::DWARFSection& section) { check(section, true); });
    if (!report.problem.empty()) return;
    for (const auto& unit : context->info_section_units()) {
        if (search.complete()) return;
        if (!unit) continue;  // left by a unit header that made no sense
        const DWARFDie top = unit->getUnitDIE(/*ExtractUnitDIEOnly=*/false);
        if (!top) continue;
        for_each_child(top, [&search](const DWARFDie& child) {
            search.look_at(child);
            return true;
        });
    }
}

}  // namespace

StructLayouts read_struct_layouts(std::span<const std::string> paths, std::span<const StructRequest> requests) {
    StructLayouts layouts;
    layouts.structs.resize(requests.size());
    for (const std::string& path : paths) {
        DebugInfoFile& report = layouts.files.emplace_back();
        report.path = path;
        Search search(requests, layouts.structs);
        if (search.complete()) {
            report.build_id = build_id_of_file(path);
            continue;
        }
        search_file(report, search);
        for (std::size_t request = 0; request < requests.size(); ++request)
            if (!layouts.structs[request]) layouts.structs[request] = search.take(request);
    }
    return layouts;
}

std::string build_id_of_file(const std::string& path) {
    std::string problem;
    const auto file = open_elf(path, problem);
    return file ? hex(llvm::object::getBuildID(file->object.get())) : std::string{};
}

}  // namespace heapsift
