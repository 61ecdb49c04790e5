// Struct layouts from DWARF, with LLVM.
//
// Only the direct children of each unit matter: C has no nested type names. Paths are resolved as soon as a
// definition is seen, so that nothing of LLVM outlives the search. Units are read one by one, until every
// request has its best name.
//
// The input may be damaged. LLVM reports much of that as Error, which is consumed here. What would crash it
// is checked beforehand (debug_file.h). Relocations are ignored: the types of linked files need none.
//
// If dwz moved entries to a file that several others share (.gnu_debugaltlink), libdw reads them, since LLVM
// does not follow such references (shared_entries.h). Split DWARF (.dwo) is not read.
// LLVM does not follow such references (shared_entries.h). Not read: split DWARF (.dwo).

#include "parsers/dwarf/struct_layouts.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDie.h>
#include <llvm/DebugInfo/DWARF/DWARFFormValue.h>
#include <llvm/Object/BuildID.h>
#include <llvm/Support/Error.h>

#include <memory>
#include <utility>

#include "parsers/dwarf/debug_file.h"
#include "parsers/dwarf/shared_entries.h"
#include "parsers/dwarf/struct_search.h"

namespace heapsift {
namespace {

using llvm::DWARFDie;
using struct_search::Search;
namespace dwarf = llvm::dwarf;

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
    const auto file = open_debug_file(report.path, report.problem);
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
    if (report.problem.empty()) report.problem = check_entries(*context);
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
#ifdef __GLIBC__
    // LLVM keeps all entries of a file: 20 MiB, which would stay beside the columns of the heap to the end.
    ::malloc_trim(0);
#endif
    return layouts;
}

std::string build_id_of_file(const std::string& path) {
    std::string problem;
    const auto file = open_debug_file(path, problem);
    return file ? hex(llvm::object::getBuildID(file->object.get())) : std::string{};
}

}  // namespace heapsift
