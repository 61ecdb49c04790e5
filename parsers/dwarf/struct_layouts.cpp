// Struct layouts from DWARF, with LLVM.
//
// Only the direct children of each unit matter: C has no nested type names. Paths are resolved as soon as a
// definition is seen, so that nothing of LLVM outlives the search. Units are read one by one, until every
// request has its best name.
//
// The input may be damaged. LLVM reports much of that as Error, which is consumed here. What would crash it
// is checked beforehand: entries that run out of their unit (entry_check.h), a compressed section that claims
// to be huge. Relocations are ignored: the types of linked files need none.
//
// If dwz moved entries to a file that several others share (.gnu_debugaltlink), libdw reads them, since LLVM
// does not follow such references (shared_entries.h). Split DWARF (.dwo) is not read.
// LLVM does not follow such references (shared_entries.h). Not read: split DWARF (.dwo).

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
#include <utility>

#include "parsers/dwarf/entry_check.h"
#include "parsers/dwarf/shared_entries.h"
#include "parsers/dwarf/struct_search.h"

namespace heapsift {
namespace {

using llvm::DWARFDie;
using struct_search::Search;
using Elf64Le = llvm::object::ELF64LEObjectFile;
namespace dwarf = llvm::dwarf;

/// LLVM's messages sometimes end in a newline or a period; ours do not.
std::string explanation(llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
    return text;
}

/// struct_search.h's Entry, with LLVM.
class LlvmEntry {
public:
    LlvmEntry() = default;
    explicit LlvmEntry(DWARFDie die) : die_(die) {}

    explicit operator bool() const { return static_cast<bool>(die_); }
    unsigned tag() const { return die_.getTag(); }
    const char* name() const { return die_.getShortName(); }
    bool has(unsigned attribute) const {
        return die_.find(static_cast<dwarf::Attribute>(attribute)).has_value();
    }
    std::optional<std::uint64_t> number(unsigned attribute) const {
        const auto value = die_.find(static_cast<dwarf::Attribute>(attribute));
        if (!value) return std::nullopt;
        if (const auto unsigned_number = value->getAsUnsignedConstant()) return *unsigned_number;
        if (const auto number = value->getAsSignedConstant(); number && *number >= 0)
            return static_cast<std::uint64_t>(*number);
        return std::nullopt;
    }
    std::span<const std::uint8_t> block(unsigned attribute) const {
        const auto value = die_.find(static_cast<dwarf::Attribute>(attribute));
        const auto block = value ? value->getAsBlock() : std::nullopt;
        return block ? std::span<const std::uint8_t>(block->data(), block->size())
                     : std::span<const std::uint8_t>{};
    }
    LlvmEntry type() const { return LlvmEntry(die_.getAttributeValueAsReferencedDie(dwarf::DW_AT_type)); }
    std::uint64_t address_size() const { return die_.getDwarfUnit()->getAddressByteSize(); }
    /// (LLVM's own range relies on the entry that ends the children, which a damaged unit may lack.)
    template <class See>
    void for_each_child(See see) const {
        for (DWARFDie child = die_.getFirstChild(); child && child.getTag() != dwarf::DW_TAG_null;
             child = child.getSibling())
            if (!see(LlvmEntry(child))) return;
    }

private:
    DWARFDie die_;
};

// ---- files ------------------------------------------------------------------------------------------------

/// An open ELF file of the only kind that is read here: 64-bit, little endian. The buffer is mapped, and must
/// outlive the object.
struct OpenFile {
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    std::unique_ptr<llvm::object::ObjectFile> object;
    const Elf64Le* elf = nullptr;
};

/// Opens `path`; on failure `problem` says why.
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

/// Why the debug sections cannot be read, or nothing. LLVM allocates what a compressed section's header
/// claims, and ends the process if that fails, so the claim must be credible. Deflate reaches 1032:1, debug
/// information about 10:1.
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
        // LLVM unpacks whatever is marked as compressed, under any name.
        if ((section.sh_flags & llvm::ELF::SHF_COMPRESSED) == 0) continue;
        auto bytes = elf.getSectionContents(section);
        if (!bytes) return explanation(bytes.takeError());
        if (bytes->size() < sizeof(llvm::ELF::Elf64_Chdr))
            return "section " + name->str() + " is too short for its compression header";
        std::uint64_t claimed = 0;
        for (int byte = 7; byte >= 0; --byte)
            claimed = claimed << 8 | (*bytes)[offsetof(llvm::ELF::Elf64_Chdr, ch_size) + byte];
        if (claimed > most_bytes || claimed / most_ratio > bytes->size())
            return "section " + name->str() + " claims to be " + std::to_string(claimed) + " bytes unpacked";
    }
    return has_info ? "" : "no debug information (.debug_info)";
}

bool has_section(const OpenFile& file, llvm::StringRef wanted) {
    for (const llvm::object::SectionRef section : file.object->sections()) {
        auto name = section.getName();
        if (!name)
            llvm::consumeError(name.takeError());
        else if (*name == wanted)
            return true;
    }
    return false;
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

/// Searches one file. LLVM's first complaint, if any, becomes its problem.
void search_file(DebugInfoFile& report, Search& search) {
    const auto file = open_elf(report.path, report.problem);
    if (!file) return;
    report.build_id = hex(llvm::object::getBuildID(file->object.get()));
    report.problem = check_sections(*file);
    if (!report.problem.empty()) return;
    if (has_section(*file, ".gnu_debugaltlink")) {
        report.problem = search_with_shared_entries(report.path, search);
        return;
    }
    const auto complain = [&report](llvm::Error error) {
        std::string text = explanation(std::move(error));
        if (report.problem.empty()) report.problem = std::move(text);
    };
    const auto context = llvm::DWARFContext::create(
        *file->object, llvm::DWARFContext::ProcessDebugRelocations::Ignore, nullptr, "", complain, complain);
    const llvm::DWARFObject& sections = context->getDWARFObj();
    const auto check = [&](const llvm::DWARFSection& section, bool debug_types) {
        if (report.problem.empty())
            report.problem = damage_in_entries(section.Data, sections.getAbbrevSection(), debug_types);
    };
    sections.forEachInfoSections([&](const llvm::DWARFSection& section) { check(section, false); });
    sections.forEachTypesSections([&](const llvm::DWARFSection& section) { check(section, true); });
    if (!report.problem.empty()) return;
    for (const auto& unit : context->info_section_units()) {
        if (search.complete()) return;
        if (!unit) continue;  // left by a unit header that made no sense
        const DWARFDie top = unit->getUnitDIE(/*ExtractUnitDIEOnly=*/false);
        if (!top) continue;
        LlvmEntry(top).for_each_child([&search](const LlvmEntry& child) {
            search.look_at(child);
            return true;
        });
    }
}

}  // namespace

StructLayouts read_struct_layouts(std::span<const std::string> paths,
                                  std::span<const StructRequest> requests) {
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
