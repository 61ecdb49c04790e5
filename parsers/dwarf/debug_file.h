#pragma once

// Opens a file with debug information for LLVM, and checks what LLVM does not. Only for the .cpp files of
// this folder that use LLVM.

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBuffer.h>

#include <memory>
#include <optional>
#include <string>

namespace heapsift {

/// An open ELF file of the only kind that is read here: 64-bit, little endian. The buffer is mapped, and must
/// outlive the object.
struct DebugFile {
    std::unique_ptr<llvm::MemoryBuffer> buffer;
    std::unique_ptr<llvm::object::ObjectFile> object;
    const llvm::object::ELF64LEObjectFile* elf = nullptr;
};

/// LLVM's messages sometimes end in a newline or a period; ours do not.
std::string explanation(llvm::Error error);

/// Opens `path`; on failure `problem` says why.
std::optional<DebugFile> open_debug_file(const std::string& path, std::string& problem);

/// Why the debug sections cannot be read, or nothing.
std::string check_sections(const DebugFile& file);

/// Why its entries cannot be read, or nothing. Cost: one pass over .debug_info, which only adds up sizes.
/// `whole_trees`: entry_check.h.
std::string check_entries(const llvm::DWARFContext& context, bool whole_trees = false);

bool has_section(const DebugFile& file, llvm::StringRef wanted);

}  // namespace heapsift
