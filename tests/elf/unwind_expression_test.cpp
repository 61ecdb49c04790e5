// The operations of unwind programs, one by one: values as DWARF 5, 2.5.1, has them.

#include "parsers/elf/unwind_expression.h"
#include "tests/catch.h"

#include <dwarf.h>

#include <array>
#include <cstring>
#include <vector>

using namespace heapsift;

namespace {

constexpr std::uint64_t minus_one = ~std::uint64_t{0};
constexpr std::uint64_t saved_at = 0x7ffd00000000;

Dwarf_Op op(std::uint8_t atom, std::uint64_t number = 0, std::uint64_t second = 0) {
    return Dwarf_Op{atom, number, second, 0};
}

struct Machine {
    Machine() {
        const std::uint64_t saved = 0x8877665544332211;
        std::memcpy(bytes.data(), &saved, sizeof saved);
        Segment segment;
        segment.start = Address(saved_at);
        segment.size = bytes.size();
        segment.data = bytes.data();
        segment.state = ByteState::in_core;
        memory = AddressSpace({segment});
        registers.values[3] = 300;
        registers.values[16] = 1600;
    }
    std::optional<UnwindPlace> place(const std::vector<Dwarf_Op>& program,
                                     std::optional<std::uint64_t> frame_address = 500) const {
        return run_unwind_program(program, registers, memory, frame_address);
    }
    /// Nothing, or what is left on top.
    std::optional<std::uint64_t> number(const std::vector<Dwarf_Op>& program) const {
        const auto found = place(program);
        return found ? std::optional(found->number) : std::nullopt;
    }
    std::array<std::byte, 16> bytes{};
    AddressSpace memory;
    UnwindRegisters registers;
};

}  // namespace

TEST_CASE("unwind programs: two operands", "[elf][unwind]") {
    struct Row {
        std::uint8_t atom;
        std::uint64_t a, b, result;
    };
    const Row row =
        GENERATE(Row{DW_OP_and, 12, 10, 8}, Row{DW_OP_or, 12, 10, 14}, Row{DW_OP_xor, 12, 10, 6},
                 Row{DW_OP_plus, minus_one, 3, 2}, Row{DW_OP_minus, 3, 5, minus_one - 1},
                 Row{DW_OP_mul, 6, 7, 42}, Row{DW_OP_shl, 3, 4, 48}, Row{DW_OP_shl, 3, 64, 0},
                 Row{DW_OP_shr, minus_one, 60, 15}, Row{DW_OP_shr, minus_one, 64, 0},
                 Row{DW_OP_shra, minus_one - 7, 2, minus_one - 1}, Row{DW_OP_shra, minus_one, 200, minus_one},
                 Row{DW_OP_eq, 4, 4, 1}, Row{DW_OP_eq, 4, 5, 0}, Row{DW_OP_ne, 4, 5, 1},
                 Row{DW_OP_ne, 5, 5, 0}, Row{DW_OP_ge, minus_one, 0, 0}, Row{DW_OP_ge, 2, 2, 1},
                 Row{DW_OP_gt, 1, minus_one, 1}, Row{DW_OP_gt, 2, 2, 0}, Row{DW_OP_le, minus_one, 0, 1},
                 Row{DW_OP_le, 3, 2, 0}, Row{DW_OP_lt, minus_one, 0, 1}, Row{DW_OP_lt, 2, 2, 0});
    const Machine machine;
    CHECK(machine.number({op(DW_OP_const8u, row.a), op(DW_OP_const8u, row.b), op(row.atom)}) == row.result);
    CHECK_FALSE(machine.number({op(DW_OP_const8u, row.a), op(row.atom)}));
}

TEST_CASE("unwind programs: constants and registers", "[elf][unwind]") {
    const Machine machine;
    CHECK(machine.number({op(DW_OP_lit31)}) == 31);
    for (const std::uint8_t atom : {DW_OP_const1u, DW_OP_const1s, DW_OP_const2u, DW_OP_const2s, DW_OP_const4u,
                                    DW_OP_const4s, DW_OP_const8s, DW_OP_constu, DW_OP_consts})
        CHECK(machine.number({op(atom, minus_one)}) == minus_one);
    CHECK(machine.number({op(DW_OP_breg3, minus_one)}) == 299);
    CHECK(machine.number({op(DW_OP_bregx, 16, 8)}) == 1608);
    CHECK_FALSE(machine.number({op(DW_OP_bregx, 17, 8)}));
    // A register as a location is its value.
    for (const auto& program : {std::vector{op(DW_OP_reg3)}, std::vector{op(DW_OP_regx, 3)}}) {
        const auto found = machine.place(program);
        REQUIRE(found);
        CHECK(found->number == 300);
        CHECK(found->is_value);
    }
    CHECK_FALSE(machine.number({op(DW_OP_reg4)}));
    CHECK_FALSE(machine.number({op(DW_OP_regx, 99)}));
    CHECK(machine.number({op(DW_OP_call_frame_cfa)}) == 500);
    CHECK_FALSE(machine.place({op(DW_OP_call_frame_cfa)}, std::nullopt));
}

TEST_CASE("unwind programs: what is moved on the stack", "[elf][unwind]") {
    const Machine machine;
    // 1 2 3, then the operation, then the three as decimal digits, the top last.
    const auto digits = [&](std::vector<Dwarf_Op> moves) {
        std::vector<Dwarf_Op> program = {op(DW_OP_lit1), op(DW_OP_lit2), op(DW_OP_lit3)};
        program.insert(program.end(), moves.begin(), moves.end());
        const std::vector<Dwarf_Op> sum = {op(DW_OP_swap), op(DW_OP_lit10), op(DW_OP_mul),
                                           op(DW_OP_plus), op(DW_OP_swap),  op(DW_OP_const1u, 100),
                                           op(DW_OP_mul),  op(DW_OP_plus)};
        program.insert(program.end(), sum.begin(), sum.end());
        return machine.number(program);
    };
    CHECK(digits({}) == 123);
    CHECK(digits({op(DW_OP_nop)}) == 123);
    CHECK(digits({op(DW_OP_swap)}) == 132);
    CHECK(digits({op(DW_OP_rot)}) == 312);
    CHECK(digits({op(DW_OP_dup)}) == 233);
    CHECK(digits({op(DW_OP_over)}) == 232);
    CHECK(digits({op(DW_OP_pick, 2)}) == 231);
    CHECK(digits({op(DW_OP_lit7), op(DW_OP_drop)}) == 123);
    CHECK_FALSE(digits({op(DW_OP_pick, 3)}));
    CHECK_FALSE(machine.number({op(DW_OP_dup)}));
    CHECK_FALSE(machine.number({op(DW_OP_drop)}));
    CHECK_FALSE(machine.number({op(DW_OP_lit1), op(DW_OP_lit2), op(DW_OP_rot)}));
}

TEST_CASE("unwind programs: memory that is there, and memory that is not", "[elf][unwind]") {
    const Machine machine;
    const Dwarf_Op at = op(DW_OP_const8u, saved_at);
    CHECK(machine.number({at, op(DW_OP_deref)}) == 0x8877665544332211);
    CHECK(machine.number({at, op(DW_OP_deref_size, 2)}) == 0x2211);
    CHECK(machine.number({at, op(DW_OP_deref_size, 8)}) == 0x8877665544332211);
    CHECK_FALSE(machine.number({at, op(DW_OP_deref_size, 9)}));
    CHECK_FALSE(machine.number({op(DW_OP_lit8), op(DW_OP_deref)}));
    CHECK_FALSE(machine.number({op(DW_OP_lit8), op(DW_OP_deref_size, 4)}));
    CHECK_FALSE(machine.number({op(DW_OP_deref)}));
    CHECK(machine.number({op(DW_OP_lit5), op(DW_OP_neg)}) == minus_one - 4);
    CHECK(machine.number({op(DW_OP_lit5), op(DW_OP_not)}) == minus_one - 5);
}

TEST_CASE("unwind programs: what no unwind table has is not guessed", "[elf][unwind]") {
    const Machine machine;
    for (const std::uint8_t atom : {DW_OP_addr, DW_OP_div, DW_OP_mod, DW_OP_abs, DW_OP_xderef, DW_OP_piece})
        CHECK_FALSE(machine.number({op(DW_OP_lit8), op(DW_OP_lit8), op(atom, 1)}));
    std::vector<Dwarf_Op> many(300, op(DW_OP_lit1));
    CHECK_FALSE(machine.number(many));
    CHECK_FALSE(machine.number({}));
}
