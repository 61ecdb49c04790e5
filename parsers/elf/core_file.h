#pragma once

// An ELF core: its headers, its notes, its threads and the modules that were mapped. (See core_file.cpp for
// what the kernel and gcore really write.)

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

class CoreFile {
public:
    /// Maps the file and reads headers, notes and modules. Throws `Error` (exit 1) with one line and a hint
    /// for what is no core: missing, a directory, unreadable, empty, a text file or script, an ELF executable
    /// or library, 32-bit, big-endian, another machine than x86-64, Mach-O, a minidump, compressed (until
    /// that is built). What is odd but readable goes to `diagnostics`. Cost: the headers and the first page
    /// of each module; the segments are mapped, not read.
    static CoreFile open(const std::string& path, const FileSearch& search, Diagnostics& diagnostics);

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
    /// Memory that the process had and the core does not name (gcore leaves out whole mappings): from now on
    /// it is memory that was not saved, and `extent` counts it.
    void add_not_saved(std::span<const AddressRange> ranges);
    /// A value of NT_AUXV (AT_PHDR 3, AT_PAGESZ 6, AT_ENTRY 9, …).
    std::optional<std::uint64_t> auxiliary(std::uint64_t type) const;

    /// The runtime address of a dynamic or static symbol of a module, from the accepted file, else (gcore)
    /// from the image in the core itself. Data and functions. Nothing if neither has it. Symbol tables are
    /// read once a module and kept.
    std::optional<Address> symbol(const Module& module, const std::string& name) const;
    /// The runtime range of a section (".PyRuntime") by the accepted file's section headers.
    std::optional<AddressRange> section(const Module& module, const std::string& name) const;
    /// Name and offset of the symbol that covers `address`, or nothing.
    struct SymbolAt {
        std::string name;
        std::uint64_t offset;
    };
    std::optional<SymbolAt> symbol_at(const Module& module, Address address) const;
    /// Path of a file with debug information for the module: separate, by build-id (below --debug-dir, the
    /// sysroot's and this machine's /usr/lib/debug), or the accepted file itself. Empty if there is none.
    /// Verified by build-id, not kept open.
    std::string debug_file_for(const Module& module) const;
    /// The module whose mappings hold `address`, or null.
    const Module* module_at(Address address) const;

private:
    struct State;
    explicit CoreFile(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace heapsift
