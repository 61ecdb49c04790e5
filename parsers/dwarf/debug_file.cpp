// LLVM reports much damage as Error, but not all of it. It allocates what a compressed section's header
// claims, and ends the process if that fails; so the claim must be credible. Deflate reaches 1032:1, debug
// information about 10:1. And it skips an attribute's bytes without checking that they are there
// (entry_check.h).

#include "parsers/dwarf/debug_file.h"

#include <llvm/BinaryFormat/ELF.h>

#include <utility>

#include "parsers/dwarf/entry_check.h"

namespace heapsift {

std::string explanation(llvm::Error error) {
    std::string text = llvm::toString(std::move(error));
    while (!text.empty() && (text.back() == '\n' || text.back() == '.')) text.pop_back();
    return text;
}

std::optional<DebugFile> open_debug_file(const std::string& path, std::string& problem) {
    DebugFile file;
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
    file.elf = llvm::dyn_cast<llvm::object::ELF64LEObjectFile>(file.object.get());
    if (file.elf == nullptr) {
        problem = "not a 64-bit little-endian ELF file";
        return std::nullopt;
    }
    return file;
}

std::string check_sections(const DebugFile& file) {
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

bool has_section(const DebugFile& file, llvm::StringRef wanted) {
    for (const llvm::object::SectionRef section : file.object->sections()) {
        auto name = section.getName();
        if (!name)
            llvm::consumeError(name.takeError());
        else if (*name == wanted)
            return true;
    }
    return false;
}

std::string check_entries(const llvm::DWARFContext& context, bool whole_trees) {
    std::string problem;
    const llvm::DWARFObject& sections = context.getDWARFObj();
    const auto check = [&](const llvm::DWARFSection& section, bool debug_types) {
        if (problem.empty())
            problem = damage_in_entries(section.Data, sections.getAbbrevSection(), debug_types, whole_trees);
    };
    sections.forEachInfoSections([&](const llvm::DWARFSection& section) { check(section, false); });
    sections.forEachTypesSections([&](const llvm::DWARFSection& section) { check(section, true); });
    return problem;
}

}  // namespace heapsift
