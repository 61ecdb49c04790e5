// From frame to frame. A frame's rules (unwind_tables.h) give its CFA, the caller's registers and with them
// the address at which the caller goes on. That address is behind the call, so rules are looked up for the
// byte before it, except where nothing was called: in the innermost frame, and in what a signal interrupted.
//
// Where there are no rules, the list ends; nothing is guessed from frame pointers, which most code does not
// keep. There is one exception: a call through a null or wild pointer, the commonest crash in C. Then no code
// is at the innermost address, so nothing has been pushed since the call: the word at the stack pointer is
// where it returns to.
//
// All that is read of the stack may lie. Each caller's stack must lie above its callee's, so that a circle
// cannot go on; a signal's handler may have a stack of its own (sigaltstack), so there it may lie anywhere,
// some times. All frames are counted. Rules are kept by address, since the same calls occur again and again.

#include "parsers/elf/unwinder.h"

#include "parsers/elf/unwind_tables.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::size_t most_signal_frames = 64;    // of one thread, each of which may go to any stack
constexpr std::size_t most_kept_rules = 1 << 14;  // about 1 KiB each
// Looking up rules in a table that a core brought runs instructions that it chose: up to 64 KiB at a time.
constexpr std::size_t most_rules_from_core = 20'000;

/// Places in struct user_regs_struct of the registers 0 to 16 of DWARF.
constexpr std::array<std::size_t, UnwindRegisters::count> places = {10, 12, 11, 5, 13, 14, 4, 19, 9,
                                                                    8,  7,  6,  3, 2,  1,  0, 16};

UnwindRegisters registers_of(const CoreThread& thread) {
    UnwindRegisters registers;
    for (std::size_t i = 0; i < UnwindRegisters::count; ++i)
        registers.values[i] = thread.registers[places[i]];
    return registers;
}

}  // namespace

struct Unwinder::State {
    explicit State(const CoreFile& of) : core(of), tables(of.modules().size()) {}

    const CoreFile& core;
    std::vector<std::optional<UnwindTables>> tables;       // one for each module, opened when first needed
    std::unordered_map<std::uint64_t, UnwindRules> rules;  // by runtime address
    std::size_t frames_left = most_frames_of_all, rules_from_core_left = most_rules_from_core;

    const UnwindTables& tables_of(const Module& module) {
        auto& known = tables[static_cast<std::size_t>(&module - core.modules().data())];
        if (known) return *known;
        if (const ElfFile* file = core.file_of(module)) known.emplace(*file);
        if (const ElfImage* image = core.image_of(module); image && (!known || known->empty()))
            known.emplace(core.memory(), *image);
        if (!known) known.emplace();
        return *known;
    }

    const UnwindRules& rules_at(Address address, const Module& module) {
        const auto there = rules.find(address.value);
        if (there != rules.end()) return there->second;
        if (rules.size() >= most_kept_rules) rules.clear();
        const UnwindTables& of = tables_of(module);
        UnwindRules found;
        if (!of.from_core())
            found = of.rules_at(address.value - module.load_bias);
        else if (rules_from_core_left > 0 && rules_from_core_left-- > 0)
            found = of.rules_at(address.value - module.load_bias);
        return rules.emplace(address.value, std::move(found)).first->second;
    }

    /// gcore does not say what may be executed of mappings that it did not save; a module's count.
    bool is_code(Address address) const {
        const Segment* segment = core.memory().find(address);
        return segment &&
               (segment->executable || (segment->state == ByteState::not_saved && core.module_at(address)));
    }

    /// The caller, by the word that a call pushed last; nothing if that is no address of code.
    std::optional<UnwindRegisters> caller_by_return_address(const UnwindRegisters& registers) const {
        const std::uint64_t stack = registers.values[UnwindRegisters::stack_pointer].value_or(0);
        const auto word = core.memory().read<std::uint64_t>(Address(stack));
        if (!word || !is_code(Address(*word - 1)) || !core.module_at(Address(*word - 1))) return std::nullopt;
        UnwindRegisters caller = registers;
        caller.values[UnwindRegisters::return_address] = *word;
        caller.values[UnwindRegisters::stack_pointer] = stack + 8;
        return caller;
    }
};

Unwinder::Unwinder(const CoreFile& core) : state_(std::make_unique<State>(core)) {}
Unwinder::~Unwinder() = default;

NativeStack Unwinder::stack_of(const CoreThread& thread) {
    using End = NativeStack::End;
    const AddressSpace& memory = state_->core.memory();
    NativeStack stack;
    UnwindRegisters registers = registers_of(thread);
    bool exact = true;
    std::size_t signal_frames = 0;
    const auto ends = [&](End end) {
        stack.end = end;
        return std::move(stack);
    };
    for (;;) {
        const auto instruction = registers.values[UnwindRegisters::return_address];
        const auto pointer = registers.values[UnwindRegisters::stack_pointer];
        if (!instruction || !pointer) return ends(End::unreadable);
        if (*instruction == 0 && !stack.frames.empty()) return ends(End::outermost);
        if (stack.frames.size() >= most_frames || state_->frames_left == 0) return ends(End::too_many);
        --state_->frames_left;
        NativeFrame& frame = stack.frames.emplace_back();
        frame.instruction = Address(*instruction);
        frame.stack = Address(*pointer);
        frame.exact = exact;
        frame.module = state_->core.module_at(frame.in_function());
        if (!frame.module || !state_->is_code(frame.in_function())) {
            auto caller = stack.frames.size() == 1 && !state_->is_code(frame.in_function())
                              ? state_->caller_by_return_address(registers)
                              : std::nullopt;
            if (!caller) return ends(End::no_module);
            frame.module = nullptr;
            frame.frame_end = frame.stack + 8;
            registers = *caller;
            exact = false;
            continue;
        }
        const UnwindRules& rules = state_->rules_at(frame.in_function(), *frame.module);
        if (!rules) return ends(state_->tables_of(*frame.module).empty() ? End::no_tables : End::no_rules);
        frame.signal_trampoline = rules.is_signal_frame();
        const auto frame_address = rules.frame_address(registers, memory);
        if (!frame_address) return ends(End::unreadable);
        bool no_caller = false;
        UnwindRegisters caller = rules.caller(registers, memory, *frame_address, no_caller);
        if (no_caller) return ends(End::outermost);
        const bool may_go_anywhere = frame.signal_trampoline && signal_frames++ < most_signal_frames;
        if (!may_go_anywhere && *frame_address <= *pointer) return ends(End::not_growing);
        frame.frame_end = Address(*frame_address);
        exact = frame.signal_trampoline;
        registers = caller;
    }
}

}  // namespace heapsift
