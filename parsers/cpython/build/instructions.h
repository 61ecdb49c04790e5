#pragma once

// Instructions of compiled Python code, as far as they tell what a function stores and takes out.

#include "parsers/cpython/build/python_version.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace heapsift {

/// An instruction: two bytes, from 3.6 on.
struct Instruction {
    std::uint8_t operation = 0, argument = 0;
};

/// What an instruction of one version does. An instruction may be a specialized one (Python/specialize.c).
class Operations {
public:
    struct Numbers {
        std::span<const std::uint8_t, 256> caches;  // by operation: words that follow it
        std::span<const int> store_item, store_attribute, in_place, add_to_display;
        int delete_item = 0, store_global = 0;
        int binary = -1, binary_adaptive = -1;  // whose argument tells what they do; -1: none
        int first_instrumented = 256;           // from here on instructions stand for others (sys.monitoring)
        std::span<const int> extended_argument, constants, cells;
        std::span<const int> names, names_by_2,
            names_by_4;  // their argument is a place in co_names, or twice, … that
    };
    explicit Operations(const Numbers& numbers) : numbers_(&numbers) {}

    /// Bytes of the instruction, with the words of a cache that follow it from 3.11 on.
    std::size_t size(Instruction instruction) const {
        return 2 + 2 * std::size_t{numbers_->caches[instruction.operation]};
    }
    /// object[key] = value
    bool stores_item(Instruction instruction) const;
    /// object.name = value, or a global; `argument` is the last byte of the name's place in co_names.
    bool stores_name(Instruction instruction) const;
    /// object += value, and the like.
    bool changes_in_place(Instruction instruction) const;
    /// What fills a list, dict or set as a comprehension does, or a long display.
    bool adds_to_display(Instruction instruction) const;
    /// del object[key]
    bool deletes_item(Instruction instruction) const;
    /// The next instruction's argument has this one's before it.
    bool extends_argument(Instruction instruction) const;
    /// The place in co_names of what it gets or sets: an attribute, a global, or a variable of a module's body, which it
    /// only gets. Nothing of what it defines or imports there. `argument`: the whole of it.
    std::optional<std::uint32_t> used_name(Instruction instruction, std::uint32_t argument) const;
    /// The place in co_consts of what it loads.
    std::optional<std::uint32_t> used_constant(Instruction instruction, std::uint32_t argument) const;
    /// The place of a variable that functions share: among all local variables, up to 3.10 among co_cellvars and
    /// co_freevars.
    std::optional<std::uint32_t> used_cell(Instruction instruction, std::uint32_t argument) const;
    /// It stands for another, which is not told.
    bool is_instrumented(Instruction instruction) const {
        return instruction.operation >= numbers_->first_instrumented;
    }

private:
    const Numbers* numbers_;
};

/// Null for a version whose instructions are not known: 2.7, and 3.14 and later.
const Operations* operations_of(const LayoutVersion& version);

}  // namespace heapsift
