#pragma once

// An ELF core: its headers, notes, threads, and the modules that were mapped. (core_file.cpp says what the
// kernel and gcore really write.)

#include "parsers/base/address.h"
#include "parsers/base/diagnostics.h"
#include "parsers/elf/address_space.h"
#include "parsers/elf/core_types.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

class UnpackedCopy;
struct ElfFile;
struct ElfImage;

class CoreFile {
public:
    /// Maps the file and reads headers, notes and modules. Throws `Error` (exit 1), with one line and a hint,
    /// if it is not a core: missing, a directory, unreadable, empty, a text file or script, an ELF executable
    /// or library, 32-bit, big-endian, for a machine other than x86-64, Mach-O, a minidump. What is odd but
    /// readable goes to `diagnostics`. Cost: the headers and the first page of each module; the segments are
    /// mapped, not read. A compressed core is unpacked first, unless `copy` is there (unpacked_copy.h).
    /// `name`: what the core is called in messages and by `path()`; "" for its path.
    static CoreFile open(const std::string& path, const FileSearch& search, Diagnostics& diagnostics,
                         UnpackedCopy* copy = nullptr, const std::string& name = "");

    CoreFile(CoreFile&&) noexcept;
    CoreFile& operator=(CoreFile&&) noexcept;
    ~CoreFile();

    const std::string& path() const;
    const AddressSpace& memory() const;
    const std::vector<CoreThread>& threads() const;
    const std::vector<MappedFile>& mapped_files() const;
    const std::vector<Module>& modules() const;
    const ProcessInfo& process() const;
    const CoreExtent& extent() const;
    /// The pages of saved memory that the process never had, if the core says so itself, however often it was copied and
    /// compressed (`heapsift capture`); ascending, without overlaps.
    const std::optional<std::vector<AddressRange>>& absent_pages() const;
    /// Adds memory that the process had but the core does not name (gcore leaves out whole mappings). It
    /// counts as not saved from now on, also in `extent`.
    void add_not_saved(std::span<const AddressRange> ranges);
    /// A value of NT_AUXV (AT_PHDR 3, AT_PAGESZ 6, AT_ENTRY 9, …).
    std::optional<std::uint64_t> auxiliary(std::uint64_t type) const;

    /// The runtime address of a dynamic or static symbol of a module, data or function, from the accepted
    /// file, else (gcore) from the image in the core. Nothing if neither has it. Each module's symbol tables
    /// are read once and kept.
    std::optional<Address> symbol(const Module& module, const std::string& name) const;
    /// Of a function that is chosen when the program starts (an ifunc), the code that chooses. Nothing if the
    /// accepted file has no such symbol.
    std::optional<Address> chooser_of(const Module& module, const std::string& name) const;
    /// The runtime range of a section (".PyRuntime"), from the accepted file's section headers.
    std::optional<AddressRange> section(const Module& module, const std::string& name) const;
    /// The name and offset of the symbol that covers `address`, or nothing.
    struct SymbolAt {
        std::string name;
        std::uint64_t offset;
    };
    std::optional<SymbolAt> symbol_at(const Module& module, Address address) const;
    /// The path of a file with debug information for the module: a separate file, by build-id (below
    /// --debug-dir, the sysroot's and this machine's /usr/lib/debug), or the accepted file itself. Empty if
    /// there is none. Its build-id was verified; it is not kept open.
    std::string debug_file_for(const Module& module) const;
    /// The file that was accepted for the module, and its headers as they are in the core; null without one.
    const ElfFile* file_of(const Module& module) const;
    const ElfImage* image_of(const Module& module) const;
    /// The module whose mappings hold `address`, or null.
    const Module* module_at(Address address) const;

private:
    struct State;
    explicit CoreFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace heapsift
