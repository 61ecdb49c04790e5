// A stack machine on 64-bit words. Compilers write two kinds of programs: "the CFA plus a constant", for
// saved registers, and longer ones by hand for code that no rule describes: entries of the procedure linkage
// table (binutils), the trampoline of signal handlers, clone and context switches (glibc). libdw parses them,
// but runs them only inside libdwfl. Programs may come from a core, so a step reads only what is there, and
// loops end.

#include "parsers/elf/unwind_expression.h"

#include <dwarf.h>
#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_steps = 1000, deepest_stack = 256;

class StackMachine {
public:
    StackMachine(const UnwindRegisters& registers, const AddressSpace& memory,
                 std::optional<std::uint64_t> frame_address)
        : registers_(registers), memory_(memory), frame_address_(frame_address) {}

    std::optional<UnwindPlace> run(std::span<const Dwarf_Op> program) {
        std::size_t at = 0;
        for (std::size_t steps = 0; at < program.size() && !failed_; ++steps) {
            if (steps >= most_steps || stack_.size() > deepest_stack) return std::nullopt;
            const Dwarf_Op& op = program[at++];
            if (op.atom == DW_OP_stack_value) {
                is_value_ = true;
                break;
            }
            if (op.atom == DW_OP_skip || op.atom == DW_OP_bra) {
                if (op.atom == DW_OP_bra && pop() == 0) continue;
                const auto target =
                    static_cast<std::int64_t>(op.offset) + 3 + static_cast<std::int16_t>(op.number & 0xffff);
                at = 0;
                while (at < program.size() && static_cast<std::int64_t>(program[at].offset) != target) ++at;
                if (at == program.size()) return std::nullopt;
                continue;
            }
            if (!constant(op) && !register_value(op) && !moves(op) && !one_operand(op) && !two_operands(op))
                return std::nullopt;
        }
        const std::uint64_t result = pop();
        if (failed_) return std::nullopt;
        return UnwindPlace{result, is_value_};
    }

private:
    void push(std::uint64_t value) { stack_.push_back(value); }
    void push(std::optional<std::uint64_t> value) {
        failed_ |= !value;
        stack_.push_back(value.value_or(0));
    }
    std::uint64_t pop() {
        if (stack_.empty()) {
            failed_ = true;
            return 0;
        }
        const std::uint64_t value = stack_.back();
        stack_.pop_back();
        return value;
    }
    std::uint64_t from_top(std::uint64_t depth) {
        if (depth >= stack_.size()) {
            failed_ = true;
            return 0;
        }
        return stack_[stack_.size() - 1 - static_cast<std::size_t>(depth)];
    }
    std::optional<std::uint64_t> value_of(std::uint64_t number) const {
        if (number >= UnwindRegisters::count) return std::nullopt;
        return registers_.values[static_cast<std::size_t>(number)];
    }

    bool constant(const Dwarf_Op& op) {
        if (op.atom >= DW_OP_lit0 && op.atom <= DW_OP_lit31) {
            push(std::uint64_t{op.atom} - DW_OP_lit0);
            return true;
        }
        switch (op.atom) {
            case DW_OP_const1u:
            case DW_OP_const1s:
            case DW_OP_const2u:
            case DW_OP_const2s:
            case DW_OP_const4u:
            case DW_OP_const4s:
            case DW_OP_const8u:
            case DW_OP_const8s:
            case DW_OP_constu:
            case DW_OP_consts:
                push(op.number);  // libdw has extended the sign
                return true;
            case DW_OP_call_frame_cfa:
                push(frame_address_);
                return true;
            default:
                return false;
        }
    }

    bool register_value(const Dwarf_Op& op) {
        if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31) {
            push(value_of(op.atom - DW_OP_breg0));
            stack_.back() += op.number;
            return true;
        }
        if (op.atom == DW_OP_bregx) {
            push(value_of(op.number));
            stack_.back() += op.number2;
            return true;
        }
        // A location that is a register means: its value.
        if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31)
            push(value_of(op.atom - DW_OP_reg0));
        else if (op.atom == DW_OP_regx)
            push(value_of(op.number));
        else
            return false;
        is_value_ = true;
        return true;
    }

    bool moves(const Dwarf_Op& op) {
        switch (op.atom) {
            case DW_OP_nop:
                return true;
            case DW_OP_dup:
                push(from_top(0));
                return true;
            case DW_OP_over:
                push(from_top(1));
                return true;
            case DW_OP_pick:
                push(from_top(op.number));
                return true;
            case DW_OP_drop:
                pop();
                return true;
            case DW_OP_swap: {
                const std::uint64_t top = pop(), below = pop();
                push(top);
                push(below);
                return true;
            }
            case DW_OP_rot: {
                const std::uint64_t first = pop(), second = pop(), third = pop();
                push(first);
                push(third);
                push(second);
                return true;
            }
            default:
                return false;
        }
    }

    bool one_operand(const Dwarf_Op& op) {
        switch (op.atom) {
            case DW_OP_deref:
                push(memory_.read<std::uint64_t>(Address(pop())));
                return true;
            case DW_OP_deref_size: {
                const Address from(pop());
                std::uint64_t value = 0;
                failed_ |= op.number > sizeof value ||
                           !memory_.read_bytes(from, &value, static_cast<std::size_t>(op.number));
                push(value);
                return true;
            }
            case DW_OP_plus_uconst:
                push(pop() + op.number);
                return true;
            case DW_OP_neg:
                push(0 - pop());
                return true;
            case DW_OP_not:
                push(~pop());
                return true;
            default:
                return false;
        }
    }

    bool two_operands(const Dwarf_Op& op) {
        constexpr std::uint64_t bits = 64;
        if (op.atom < DW_OP_and || op.atom > DW_OP_ne) return false;
        const std::uint64_t b = pop(), a = pop();
        const auto signed_a = static_cast<std::int64_t>(a), signed_b = static_cast<std::int64_t>(b);
        switch (op.atom) {
            case DW_OP_and:
                push(a & b);
                return true;
            case DW_OP_or:
                push(a | b);
                return true;
            case DW_OP_xor:
                push(a ^ b);
                return true;
            case DW_OP_plus:
                push(a + b);
                return true;
            case DW_OP_minus:
                push(a - b);
                return true;
            case DW_OP_mul:
                push(a * b);
                return true;
            case DW_OP_shl:
                push(b < bits ? a << b : 0);
                return true;
            case DW_OP_shr:
                push(b < bits ? a >> b : 0);
                return true;
            case DW_OP_shra:
                push(static_cast<std::uint64_t>(signed_a >> std::min(b, bits - 1)));
                return true;
            case DW_OP_eq:
                push(std::uint64_t{a == b});
                return true;
            case DW_OP_ne:
                push(std::uint64_t{a != b});
                return true;
            case DW_OP_ge:
                push(std::uint64_t{signed_a >= signed_b});
                return true;
            case DW_OP_gt:
                push(std::uint64_t{signed_a > signed_b});
                return true;
            case DW_OP_le:
                push(std::uint64_t{signed_a <= signed_b});
                return true;
            case DW_OP_lt:
                push(std::uint64_t{signed_a < signed_b});
                return true;
            default:
                return false;
        }
    }

    const UnwindRegisters& registers_;
    const AddressSpace& memory_;
    std::optional<std::uint64_t> frame_address_;
    std::vector<std::uint64_t> stack_;
    bool failed_ = false;
    bool is_value_ = false;
};

}  // namespace

std::optional<UnwindPlace> run_unwind_program(std::span<const Dwarf_Op> program,
                                              const UnwindRegisters& registers, const AddressSpace& memory,
                                              std::optional<std::uint64_t> frame_address) {
    return StackMachine(registers, memory, frame_address).run(program);
}

}  // namespace heapsift
