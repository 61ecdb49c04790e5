// From frame to frame: by the tables of an image in the core, whatever these and the stack say.

#include "parsers/elf/unwinder.h"

#include "parsers/elf/saved_unwind_tables.h"
#include "parsers/elf/unwind_expression.h"
#include "tests/catch.h"
#include "tests/elf/temporary_directory.h"
#include "tests/elf/unwind_image.h"

#include <dwarf.h>
#include <random>

using namespace heapsift;
using namespace heapsift::test;

namespace {

using End = NativeStack::End;
using Image = UnwindImage;

struct Unwound {
    std::vector<std::uint64_t> addresses;
    NativeStack stack;
};

Unwound unwind(const CoreWriter& writer) {
    const TemporaryDirectory directory;
    Diagnostics diagnostics;
    const CoreFile core = CoreFile::open(directory.write("core", writer.bytes()), {}, diagnostics);
    Unwinder unwinder(core);
    Unwound result;
    result.stack = unwinder.stack_of(core.threads().at(0));
    for (const NativeFrame& frame : result.stack.frames) result.addresses.push_back(frame.instruction.value);
    return result;
}

constexpr std::uint64_t in(std::uint64_t function) { return function + 0x10; }

}  // namespace

TEST_CASE("unwinder: callers, by the tables that the core has, to the first function", "[elf][unwind]") {
    // plain, called by keeps_rbp, called by plain, called by outermost
    const std::uint64_t s = Image::stack;
    const auto core = Image::core(in(Image::plain), s, s + 0x30,
                                  {0, 0, 0, in(Image::keeps_rbp), 0, 0,  // plain; two words of keeps_rbp
                                   0x1111, in(Image::plain),             // saved rbp, return address
                                   0, 0, 0, in(Image::outermost), 0, 0});
    const Unwound unwound = unwind(core);
    CHECK(unwound.addresses ==
          std::vector{in(Image::plain), in(Image::keeps_rbp), in(Image::plain), in(Image::outermost)});
    CHECK(unwound.stack.end == End::outermost);
    CHECK(unwound.stack.complete());
    CHECK(unwound.stack.frames[0].exact);
    CHECK_FALSE(unwound.stack.frames[1].exact);
    CHECK(unwound.stack.frames[1].stack == Address(s + 0x20));
    CHECK(unwound.stack.frames[1].frame_end == Address(s + 0x40));
}

TEST_CASE("unwinder: what a signal interrupted is at the very instruction, on whatever stack",
          "[elf][unwind]") {
    // A handler (plain) on a stack above the one that was interrupted.
    const std::uint64_t s = Image::stack, handler = s + 0x100;
    std::vector<std::uint64_t> words(64, 0);
    words[0x100 / 8 + 3] = Image::trampoline + 1;   // plain returns to the trampoline
    words[(0x100 + 0x20 + 16) / 8] = s;             // the interrupted rsp
    words[(0x100 + 0x20 + 24) / 8] = Image::plain;  // the interrupted rip: a function's first byte
    words[3] = in(Image::outermost);
    const Unwound unwound = unwind(Image::core(in(Image::plain), handler, 0, words));
    CHECK(unwound.addresses == std::vector{in(Image::plain), Image::trampoline + 1,
                                           std::uint64_t{Image::plain}, in(Image::outermost)});
    CHECK(unwound.stack.end == End::outermost);
    CHECK(unwound.stack.frames[1].signal_trampoline);
    CHECK(unwound.stack.frames[2].exact);
    CHECK(unwound.stack.frames[2].stack == Address(s));
}

TEST_CASE("unwinder: a call through a null pointer returns to its caller", "[elf][unwind]") {
    const std::uint64_t s = Image::stack;
    const Unwound unwound =
        unwind(Image::core(0, s, 0, {in(Image::plain), 0, 0, 0, in(Image::outermost), 0}));
    CHECK(unwound.addresses == std::vector{std::uint64_t{0}, in(Image::plain), in(Image::outermost)});
    CHECK(unwound.stack.end == End::outermost);
    // If that word is no address of code, nothing is guessed.
    const Unwound lost = unwind(Image::core(0, s, 0, {s, in(Image::plain), 0}));
    CHECK(lost.addresses == std::vector{std::uint64_t{0}});
    CHECK(lost.stack.end == End::no_module);
}

TEST_CASE("unwinder: the list ends with the reason why", "[elf][unwind]") {
    const std::uint64_t s = Image::stack;
    CHECK(unwind(Image::core(in(Image::without_rules), s, 0, {0})).stack.end == End::no_rules);
    CHECK(unwind(Image::core(in(Image::plain), s, 0, {0, 0, 0, s})).stack.end == End::no_module);
    CHECK(unwind(Image::core(in(Image::plain), s + 0x1000, 0, {0})).stack.end == End::unreadable);
    CHECK(unwind(Image::core(in(Image::plain), s, 0, {0, 0, 0, 0})).stack.end == End::outermost);
    // rbp leads below the stack pointer, and so would go round for ever.
    CHECK(unwind(Image::core(in(Image::keeps_rbp), s + 0x20, s, {s, in(Image::keeps_rbp), 0, 0, 0}))
              .stack.end == End::not_growing);
    std::string image = Image::bytes();
    image[Image::index_at] = 9;
    CHECK(unwind(Image::core(in(Image::plain), s, 0, {0, 0, 0, 0}, image)).stack.end == End::no_tables);
    std::vector<std::uint64_t> deep;
    for (std::size_t i = 0; i < Unwinder::most_frames + 10; ++i)
        deep.insert(deep.end(), {0, 0, 0, in(Image::plain)});
    const Unwound cut = unwind(Image::core(in(Image::plain), s, 0, deep));
    CHECK(cut.stack.end == End::too_many);
    CHECK(cut.addresses.size() == Unwinder::most_frames);
}

TEST_CASE("unwinder: signals' trampolines cannot make a circle for ever", "[elf][unwind]") {
    const std::uint64_t s = Image::stack;
    // The trampoline's caller is the trampoline, with the same stack.
    const Unwound unwound =
        unwind(Image::core(in(Image::trampoline), s, 0, {0, 0, s, in(Image::trampoline)}));
    CHECK(unwound.stack.end == End::not_growing);
    CHECK(unwound.addresses.size() < 100);
}

TEST_CASE("unwinder: stacks and tables that lie end", "[elf][unwind]") {
    std::mt19937_64 random(20);
    const auto any = [&](std::uint64_t below) { return random() % below; };
    const std::string image = Image::bytes();
    const std::uint64_t functions[] = {Image::plain, Image::keeps_rbp, Image::trampoline,
                                       Image::without_rules};
    std::size_t whole = 0;
    for (int round = 0; round < 1500; ++round) {
        std::vector<std::uint64_t> words(256);
        for (std::uint64_t& word : words) {
            const std::uint64_t kind = any(8);
            word = kind < 6   ? functions[any(3)] + any(0x100)
                   : kind < 7 ? Image::stack + any(0x800)
                              : random();
        }
        std::string damaged = image;
        const std::size_t length = Image::table().size();
        for (std::uint64_t n = any(4); n > 0; --n)
            damaged[Image::table_at + any(length)] = static_cast<char>(random());
        if (any(20) == 0) damaged[Image::index_at + any(8)] = static_cast<char>(random());
        const Unwound unwound =
            unwind(Image::core(functions[any(4)] + any(0x100), Image::stack + 8 * any(0x80),
                               Image::stack + 8 * any(0x80), words, damaged));
        REQUIRE(unwound.addresses.size() <= Unwinder::most_frames);
        whole += unwound.addresses.size() > 2;
    }
    CHECK(whole > 100);  // the stacks were not all nonsense
}

TEST_CASE("saved unwind tables: entries are taken up to the first that is unsound", "[elf][unwind]") {
    const std::string table = Image::table();
    const auto sound = [](const std::string& bytes) {
        return sound_unwind_entries({reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()});
    };
    CHECK(sound(table) == table.size() - 4);  // without the end mark
    for (std::size_t cut = 0; cut < table.size(); ++cut) CHECK(sound(table.substr(0, cut)) <= cut);
    std::string damaged = table;
    const std::size_t rule = table.find("\x0e\x20");
    damaged.replace(rule, 2, "\x09\x7f");  // DW_CFA_register, and no such registers
    CHECK(sound(damaged) < rule);
    damaged = table;
    damaged[rule] = '\x3f';  // no such instruction
    CHECK(sound(damaged) < rule);
    damaged = table;
    put_at(damaged, 0, std::uint32_t{0xfffffff0});
    CHECK(sound(damaged) == 0);
}

TEST_CASE("unwind programs: a stack machine whose steps are bounded", "[elf][unwind]") {
    AddressSpace memory;
    UnwindRegisters registers;
    registers.values[7] = 1000;
    const auto run = [&](std::vector<Dwarf_Op> program) {
        return run_unwind_program(program, registers, memory, 500);
    };
    const auto op = [](std::uint8_t atom, std::uint64_t number = 0, std::uint64_t offset = 0) {
        return Dwarf_Op{atom, number, 0, offset};
    };
    CHECK(run({op(DW_OP_breg7, 8)})->number == 1008);
    CHECK(run({op(DW_OP_call_frame_cfa), op(DW_OP_plus_uconst, static_cast<std::uint64_t>(-16))})->number ==
          484);
    CHECK(run({op(DW_OP_call_frame_cfa), op(DW_OP_stack_value)})->is_value);
    CHECK_FALSE(run({op(DW_OP_call_frame_cfa)})->is_value);
    // As in the table of procedures: (rip & 15) >= 11 shifted by 3.
    CHECK(run({op(DW_OP_breg7, 0), op(DW_OP_lit15), op(DW_OP_and), op(DW_OP_lit8), op(DW_OP_ge),
               op(DW_OP_lit3), op(DW_OP_shl)})
              ->number == 8);
    CHECK(run({op(DW_OP_lit1), op(DW_OP_bra, 1, 1), op(DW_OP_lit5, 0, 4), op(DW_OP_lit6, 0, 5)})->number ==
          6);
    CHECK_FALSE(run({op(DW_OP_skip, 0xfffd, 0)}));        // to itself, for ever
    CHECK_FALSE(run({op(DW_OP_skip, 100, 0)}));           // to nowhere
    CHECK_FALSE(run({op(DW_OP_breg3)}));                  // an unknown register
    CHECK_FALSE(run({op(DW_OP_breg31)}));                 // one that x86-64 has not
    CHECK_FALSE(run({op(DW_OP_plus)}));                   // of nothing
    CHECK_FALSE(run({op(DW_OP_lit5), op(DW_OP_deref)}));  // unmapped
    CHECK_FALSE(run({op(DW_OP_lit5), op(DW_OP_deref_size, 200)}));
    CHECK_FALSE(run({op(DW_OP_lit5), op(DW_OP_fbreg)}));
    CHECK_FALSE(run({}));
}
