// Unwind tables through libdw (elfutils), which finds the entry for an address and runs its instructions.
//
// libdwfl, elfutils' whole unwinder, is not used: where there are no tables it guesses by frame pointers, it
// looks for files by itself, and in 0.188 (Debian 12) it does not tell the registers of a frame, without
// which nobody can see that a stack goes round in circles. So the step from frame to frame is unwinder.cpp's.
//
// A file has sections, and libdw finds its tables by their index (.eh_frame_hdr). In the memory of a core
// there are only program headers; PT_GNU_EH_FRAME leads to the same index, whose first words say where
// .eh_frame begins (Linux Standard Base, 10.6). That table is a core's, and may lie: libdw would allocate 2
// GiB for a register number of 100 million. So its entries are checked first (saved_unwind_tables.h), and
// what is sound is put into an ELF file with that one section.

#include "parsers/elf/unwind_tables.h"

#include "parsers/elf/saved_unwind_tables.h"

namespace heapsift {

std::optional<std::uint64_t> UnwindRules::frame_address(const UnwindRegisters& registers,
                                                        const AddressSpace& memory) const {
    Dwarf_Op* program = nullptr;
    std::size_t length = 0;
    if (dwarf_frame_cfa(frame_.get(), &program, &length) != 0 || length == 0) return std::nullopt;
    const auto place = run_unwind_program({program, length}, registers, memory, std::nullopt);
    if (!place) return std::nullopt;
    return place->number;
}

UnwindRegisters UnwindRules::caller(const UnwindRegisters& registers, const AddressSpace& memory,
                                    std::uint64_t frame_address, bool& no_caller) const {
    UnwindRegisters caller;
    no_caller = false;
    for (std::size_t i = 0; i < UnwindRegisters::count; ++i) {
        Dwarf_Op few[3];
        Dwarf_Op* program = nullptr;
        std::size_t length = 0;
        if (dwarf_frame_register(frame_.get(), static_cast<int>(i), few, &program, &length) != 0) continue;
        if (length == 0) {
            const bool undefined = program != nullptr;
            if (i == UnwindRegisters::return_address && undefined) no_caller = true;
            if (!undefined) caller.values[i] = registers.values[i];
            continue;
        }
        const auto place = run_unwind_program({program, length}, registers, memory, frame_address);
        if (!place) continue;
        if (place->is_value)
            caller.values[i] = place->number;
        else
            caller.values[i] = memory.read<std::uint64_t>(Address(place->number));
    }
    auto& stack_pointer = caller.values[UnwindRegisters::stack_pointer];
    if (!stack_pointer) stack_pointer = frame_address;
    return caller;
}

UnwindTables::UnwindTables(const ElfFile& file) : elf_(open_elf(file.bytes())) {
    if (elf_) tables_.reset(dwarf_getcfi_elf(elf_.get()));
}

UnwindTables::UnwindTables(const AddressSpace& memory, const ElfImage& image)
    : bytes_(file_of_saved_unwind_table(memory, image)) {
    elf_ = open_elf({reinterpret_cast<const std::byte*>(bytes_.data()), bytes_.size()});
    if (elf_) tables_.reset(dwarf_getcfi_elf(elf_.get()));
}

UnwindRules UnwindTables::rules_at(std::uint64_t address) const {
    UnwindRules rules;
    Dwarf_Frame* frame = nullptr;
    if (!tables_ || dwarf_cfi_addrframe(tables_.get(), address, &frame) != 0) return rules;
    rules.frame_.reset(frame);
    if (dwarf_frame_info(frame, nullptr, nullptr, &rules.signal_frame_) !=
        static_cast<int>(UnwindRegisters::return_address))
        rules.frame_.reset();
    return rules;
}

}  // namespace heapsift
