#pragma once

// A module's unwind tables (.eh_frame): how to get from a function's frame to its caller's.

#include "parsers/elf/elf_file.h"
#include "parsers/elf/elf_image.h"
#include "parsers/elf/libelf.h"
#include "parsers/elf/unwind_expression.h"

#include <elfutils/libdw.h>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

namespace heapsift {

/// What holds at one address. Valid as long as the tables.
class UnwindRules {
public:
    explicit operator bool() const { return frame_ != nullptr; }
    /// The code is the trampoline to which a signal handler returns; its caller was interrupted, and called
    /// nothing.
    bool is_signal_frame() const { return signal_frame_; }
    /// The frame's address (CFA): the stack pointer before the return address was pushed.
    std::optional<std::uint64_t> frame_address(const UnwindRegisters& registers,
                                               const AddressSpace& memory) const;
    /// The registers of the caller; the stack pointer is known at least. `no_caller`: the tables say that
    /// there is none.
    UnwindRegisters caller(const UnwindRegisters& registers, const AddressSpace& memory,
                           std::uint64_t frame_address, bool& no_caller) const;

private:
    friend class UnwindTables;
    struct Free {
        void operator()(Dwarf_Frame* frame) const { std::free(frame); }
    };
    std::unique_ptr<Dwarf_Frame, Free> frame_;
    bool signal_frame_ = false;
};

class UnwindTables {
public:
    UnwindTables() = default;
    /// Those of a verified file, whose mapping must outlive them.
    explicit UnwindTables(const ElfFile& file);
    /// Those in the memory of the core, if their pages were saved, as far as they are sound. Cost: a copy of
    /// the table, which is a few percent of the code's size.
    UnwindTables(const AddressSpace& memory, const ElfImage& image);

    bool empty() const { return !tables_; }
    /// `address`: a virtual address of the file. False if no entry covers it.
    UnwindRules rules_at(std::uint64_t address) const;
    /// Whether they came from the core.
    bool from_core() const { return !bytes_.empty(); }

private:
    struct End {
        void operator()(Dwarf_CFI* tables) const { dwarf_cfi_end(tables); }
    };
    std::string bytes_;  // of the ELF file that was made around the core's table
    ElfHandle elf_;
    std::unique_ptr<Dwarf_CFI, End> tables_;
};

}  // namespace heapsift
