// Source lines and inlined functions from DWARF (DWARF 5, 3.3.8 and 6.2), with LLVM.
//
// LLVM's DWARFContext is used, and not its symbolizer, which would look for debug files by itself: the file
// was found, and its build-id compared, elsewhere. Damage that would crash LLVM is looked for first
// (debug_file.h). Split DWARF is not followed, and of a file that shares entries with others (dwz) names may
// be missing.

#include "parsers/dwarf/source_lines.h"

#include <llvm/DebugInfo/DIContext.h>
#include <llvm/DebugInfo/DWARF/DWARFCompileUnit.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>

#include <utility>

#include "parsers/dwarf/debug_file.h"
#include "parsers/dwarf/entry_check.h"

namespace heapsift {
namespace {

constexpr std::uint32_t most_inlined = 256;

void ignore(llvm::Error error) { llvm::consumeError(std::move(error)); }

/// LLVM's word for what it does not know.
std::string known(std::string text) { return text == llvm::DILineInfo::BadString ? std::string() : text; }

}  // namespace

struct SourceLines::Opened {
    DebugFile file;
    std::unique_ptr<llvm::DWARFContext> context;
};

SourceLines::SourceLines(const std::string& path) {
    auto file = open_debug_file(path, problem_);
    if (!file) return;
    problem_ = check_sections(*file);
    if (!problem_.empty()) return;
    auto opened = std::make_unique<Opened>();
    opened->file = std::move(*file);
    opened->context =
        llvm::DWARFContext::create(*opened->file.object, llvm::DWARFContext::ProcessDebugRelocations::Ignore,
                                   nullptr, "", ignore, ignore);
    problem_ = check_entries(*opened->context, /*whole_trees=*/true);
    if (problem_.empty()) opened_ = std::move(opened);
}

SourceLines::SourceLines(SourceLines&&) noexcept = default;
SourceLines& SourceLines::operator=(SourceLines&&) noexcept = default;
SourceLines::~SourceLines() = default;

std::vector<SourceCall> SourceLines::calls_at(std::uint64_t address) const {
    std::vector<SourceCall> calls;
    if (!opened_) return calls;
    // LLVM goes down a unit's entries without asking whether it could read any.
    llvm::DWARFCompileUnit* const unit = opened_->context->getCompileUnitForCodeAddress(address);
    if (unit == nullptr || !unit->getUnitDIE(/*ExtractUnitDIEOnly=*/false)) return calls;
    const llvm::DWARFDie top = unit->getUnitDIE();
    const auto lines = llvm::dwarf::toSectionOffset(top.find(llvm::dwarf::DW_AT_stmt_list));
    if (lines && !sound_line_table(opened_->context->getDWARFObj().getLineSection().Data, *lines))
        return calls;
    const llvm::DILineInfoSpecifier wanted(llvm::DILineInfoSpecifier::FileLineInfoKind::AbsoluteFilePath,
                                           llvm::DILineInfoSpecifier::FunctionNameKind::LinkageName);
    const llvm::DIInliningInfo found = opened_->context->getInliningInfoForAddress(
        {address, llvm::object::SectionedAddress::UndefSection}, wanted);
    for (std::uint32_t i = 0; i < found.getNumberOfFrames() && i < most_inlined; ++i) {
        const llvm::DILineInfo& frame = found.getFrame(i);
        calls.push_back({known(frame.FunctionName), known(frame.FileName), frame.Line});
    }
    return calls;
}

}  // namespace heapsift
