// What an instruction does, its number tells, which each version gives anew; the tables are the interpreters' own
// (instruction_tables.cpp). Since 3.14 object[key] is a binary operation, as object + value is.

#include "parsers/cpython/build/instructions.h"

#include <bit>

namespace heapsift {
namespace {

constexpr std::uint8_t first_in_place = 13, last_in_place = 25,
                       operator_subscript = 26;  // NB_… (Include/opcode.h)

}  // namespace

Operations::Operations(std::span<const Operation> known) {
    for (const Operation& operation : known) {
        operations_[operation.number] = operation;
        if (operation.does == Does::load_method || operation.does == Does::load_attribute_by_2)
            tells_methods_ = true;
        has_caches_ = has_caches_ || operation.caches > 0;
    }
}

std::optional<int> Operations::effect(Instruction instruction, std::uint32_t argument) const {
    constexpr std::uint32_t most = 1 << 16;  // what larger arguments name is no number of values
    const Operation& operation = operations_[instruction.operation];
    switch (operation.of_argument) {
        case 0:
            return operation.effect;
        case Operation::unknown:
            return std::nullopt;
        case Operation::low_bit:
            return operation.effect + static_cast<int>(argument & 1);
        case Operation::minus_low_bit:
            return operation.effect - static_cast<int>(argument & 1);
        case Operation::minus_bits:
            return operation.effect - std::popcount(argument);
        case Operation::minus_if_3:
            return operation.effect - (argument == 3 ? 1 : 0);
        case Operation::minus_third_bit:
            return operation.effect - static_cast<int>(argument >> 2 & 1);
        default:
            if (argument > most) return std::nullopt;
            return operation.effect + operation.of_argument * static_cast<int>(argument);
    }
}

bool Operations::stores_item(Instruction instruction) const {
    return instruction.argument == 0 &&
           (does(instruction) == Does::store_item || does(instruction) == Does::store_slice);
}

bool Operations::stores_name(Instruction instruction) const {
    return does(instruction) == Does::store_attribute || does(instruction) == Does::store_name;
}

bool Operations::changes_in_place(Instruction instruction) const {
    if (does(instruction) == Does::change_in_place) return instruction.argument == 0;
    return does(instruction) == Does::binary && instruction.argument >= first_in_place &&
           instruction.argument <= last_in_place;
}

bool Operations::takes_subscript(Instruction instruction) const {
    return does(instruction) == Does::subscript || does(instruction) == Does::slice ||
           (does(instruction) == Does::binary && instruction.argument == operator_subscript);
}

bool Operations::adds_to_display(Instruction instruction) const {
    return does(instruction) == Does::add_to_display;
}

bool Operations::deletes_item(Instruction instruction) const {
    return instruction.argument == 0 && does(instruction) == Does::delete_item;
}

bool Operations::extends_argument(Instruction instruction) const {
    return does(instruction) == Does::extended_argument;
}

std::optional<std::uint32_t> Operations::used_name(Instruction instruction, std::uint32_t argument) const {
    switch (does(instruction)) {
        case Does::load_name:
        case Does::store_name:
        case Does::load_attribute:
        case Does::load_method:
        case Does::store_attribute:
            return argument;
        case Does::load_name_by_2:
        case Does::load_attribute_by_2:
            return argument >> 1;
        case Does::load_super_attribute:
            return argument >> 2;
        default:
            return std::nullopt;
    }
}

bool Operations::gets_attribute(Instruction instruction) const {
    const Does what = does(instruction);
    return what == Does::load_attribute || what == Does::load_attribute_by_2 || what == Does::load_method ||
           what == Does::load_super_attribute;
}

bool Operations::gets_method(Instruction instruction, std::uint32_t argument) const {
    const bool is_flagged =
        does(instruction) == Does::load_attribute_by_2 || does(instruction) == Does::load_super_attribute;
    return does(instruction) == Does::load_method || (is_flagged && (argument & 1) != 0);
}

const Operations* operations_of(const LayoutVersion& version) {
    constexpr int first = 6, last = 15;
    static const std::array all = [] {
        std::array<std::optional<Operations>, last - first + 1> made;
        for (int minor = first; minor <= last; ++minor)
            made[static_cast<std::size_t>(minor - first)].emplace(operations_of_minor(minor));
        return made;
    }();
    if (is_python_2(version) || version.minor < first || version.minor > last) return nullptr;
    return &*all[static_cast<std::size_t>(version.minor - first)];
}

}  // namespace heapsift
