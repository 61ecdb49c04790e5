#pragma once

// Where a code object uses a name: the line, and whether something is added there.

#include "parsers/cpython/build/instructions.h"
#include "parsers/cpython/python_heap.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// Methods and functions that put something into a list, dict, set or deque, or into one that they are given.
bool is_name_that_adds(const std::string& name);

/// What an instruction refers to, by its place in one of the code object's tables.
struct UsedByCode {
    enum class Table : std::uint8_t {
        names,      // co_names: an attribute or a global
        constants,  // co_consts
        cells,      // all local variables; up to 3.10 co_cellvars and co_freevars: what functions share
        locals      // all local variables; up to 3.10 co_varnames: those that functions do not share
    } table = Table::names;
    std::uint32_t place = 0;
    bool called = true;   // also where it is called as a method: `x.items()`
    bool of_self = true;  // also as an attribute of the first local variable, or of that shared one
    std::uint32_t self_cell = none;
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    bool filled_within = false;          // what an item of it holds is what grows
    std::uint32_t none_constant = none;  // the place of None: who stores that, clears
};

/// What is done there, the likeliest to fill it last.
enum class UseByCode : std::uint8_t {
    reads,
    stores,    // it itself is set
    hands_on,  // it is given to a function or a method of the same object, which may fill it
    adds_apart,  // adds to it, where what an item of it holds grows, or to what an item of it holds, where it grows
    adds
};

struct CodeUse {
    bool read = false;  // its instructions: if not, nothing else is known
    bool used = false;  // not only defined, as `import x` and `x = []` in the body of a module do
    UseByCode use = UseByCode::reads;
    std::int32_t line = 0;         // the first with the likeliest use; 0: not known
    std::int32_t called_line = 0;  // the first where it itself is called; 0: nowhere, or not known
    bool gives = false;            // it returns it, or something of it: as a property does
    bool adds() const { return used && use >= UseByCode::adds_apart; }
};

/// `names`: of co_names. Nothing is read of a version whose instructions are not known, where a tracer has put others in
/// their place (sys.monitoring), and of more than a million bytes. Cost: one pass over the instructions and the line table.
CodeUse use_of(const PythonHeap& heap, Address code, const std::vector<std::string>& names, UsedByCode used);

/// Calls `visit(instruction, argument, offset)` for each instruction, with its whole argument and where it stands in
/// bytes, until that returns true, and returns it then; `if_unknown` where they cannot be read to the end.
template <class Visit>
bool any_instruction(const PythonHeap& heap, Address code, bool if_unknown, Visit&& visit) {
    constexpr std::int64_t longest = 1 << 20;  // bytes
    const auto& l = heap.layout();
    const Operations* operations = operations_of(l.version);
    Address at;
    std::int64_t bytes = 0;
    if (l.code.co_code_adaptive.present()) {
        at = code + *l.code.co_code_adaptive;
        bytes = 2 * heap.var_size(code);
    } else if (l.code.co_code.present() && l.bytes.ob_sval.present()) {
        const Address object = heap.pointer(code + *l.code.co_code);
        at = object + *l.bytes.ob_sval;
        bytes = heap.var_size(object);
    }
    if (!operations || bytes <= 0 || bytes > longest) return if_unknown;
    std::uint32_t before = 0;  // of the argument
    for (std::uint64_t i = 0; i + 1 < static_cast<std::uint64_t>(bytes);) {
        const auto operation = heap.memory().read<std::uint8_t>(at + i);
        const auto argument = heap.memory().read<std::uint8_t>(at + i + 1);
        if (!operation || !argument) return if_unknown;
        const Instruction instruction{*operation, *argument};
        const std::uint32_t whole = before << 8 | *argument;
        if (visit(instruction, whole, i)) return true;
        before = operations->extends_argument(instruction) ? whole : 0;
        i += operations->size(instruction);
    }
    return false;
}

}  // namespace heapsift
