#pragma once

// What each instruction of a version does, as the interpreter's own `dis` has it (parsers/cpython/tool/instructions.py).

#include <cstdint>
#include <span>

namespace heapsift {

/// What is done, by the names of Lib/opcode.py. `…_by_2`: the place of the name is half the argument, whose lowest bit says
/// something else (for an attribute, that it is a method to be called); of a super's attribute it is a quarter.
enum class Does : std::uint8_t {
    other,  // takes what its effect says, and gives one value if it takes any
    pop,    // takes, and gives nothing
    unpack,
    jump_if,  // takes one value, and goes on or elsewhere
    jump,     // goes on elsewhere in any case: it jumps or raises
    give_back,
    load_constant,
    load_local,
    load_two_locals,
    store_local,
    store_two_locals,
    store_and_load_local,
    load_cell,
    store_cell,
    load_name,  // a global, or a variable of a module's body
    load_name_by_2,
    store_name,
    load_attribute,
    load_attribute_by_2,
    load_method,
    load_super_attribute,
    store_attribute,
    store_item,
    store_slice,
    delete_item,
    subscript,
    slice,
    binary,  // its argument says what (Include/opcode.h, NB_…)
    change_in_place,
    add_to_display,
    call,  // of so many arguments
    call_by_names,
    call_by_tuple,
    extended_argument,
    copy,  // the value that is so deep
    swap,  // with the value that is so deep
    duplicate,
    duplicate_two,
    rotate,  // the first of so many becomes the last of them
    rotate_two,
    rotate_three,
    rotate_four,
    instrumented  // it stands for another (sys.monitoring)
};

struct Operation {
    std::uint8_t number = 0;
    Does does = Does::other;
    std::uint8_t caches = 0;      // words that follow it
    std::int8_t effect = 0;       // on the number of values
    std::int8_t of_argument = 0;  // for each of its argument, or one of these
    static constexpr std::int8_t unknown = 127, low_bit = 126, minus_low_bit = -126, minus_bits = 125,
                                 minus_if_3 = 124, minus_third_bit = 123;
};

/// Those of CPython 3.`minor`, by number; what is not among them has no effect. Empty for a version that is not known.
std::span<const Operation> operations_of_minor(int minor);

}  // namespace heapsift
