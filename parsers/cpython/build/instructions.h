#pragma once

// Instructions of compiled Python code, as far as they tell what a function stores and takes out.

#include "parsers/cpython/build/instruction_tables.h"
#include "parsers/cpython/build/python_version.h"

#include <array>
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
    explicit Operations(std::span<const Operation> known);

    Does does(Instruction instruction) const { return operations_[instruction.operation].does; }
    /// Bytes of the instruction, with the words of a cache that follow it from 3.11 on.
    std::size_t size(Instruction instruction) const {
        return 2 + 2 * std::size_t{operations_[instruction.operation].caches};
    }
    /// By how many the values on the stack become more, if it does not jump; not known of a few with some arguments.
    /// `argument`: the whole of it.
    std::optional<int> effect(Instruction instruction, std::uint32_t argument) const;
    /// object[key] = value, or of a slice
    bool stores_item(Instruction instruction) const;
    /// object.name = value, or a global; `argument` is the last byte of the name's place in co_names.
    bool stores_name(Instruction instruction) const;
    /// object += value, and the like.
    bool changes_in_place(Instruction instruction) const;
    /// object[key], or of a slice
    bool takes_subscript(Instruction instruction) const;
    /// What fills a list, dict or set as a comprehension does, or a long display.
    bool adds_to_display(Instruction instruction) const;
    /// del object[key]
    bool deletes_item(Instruction instruction) const;
    /// The next instruction's argument has this one's before it.
    bool extends_argument(Instruction instruction) const;
    /// The place in co_names of what it gets or sets: an attribute, a global, or a variable of a module's body, which it
    /// only gets. Nothing of what it defines or imports there. `argument`: the whole of it.
    std::optional<std::uint32_t> used_name(Instruction instruction, std::uint32_t argument) const;
    /// It gets an attribute, or a method.
    bool gets_attribute(Instruction instruction) const;
    /// Whether it is told what gets a method: since 3.7.
    bool tells_methods() const { return tells_methods_; }
    /// It gets a method that is called then.
    bool gets_method(Instruction instruction, std::uint32_t argument) const;
    /// Whether variables that functions share are numbered among all local ones: since 3.11, which has caches.
    bool numbers_cells_with_locals() const { return has_caches_; }
    /// It stands for another, which is not told.
    bool is_instrumented(Instruction instruction) const { return does(instruction) == Does::instrumented; }

private:
    std::array<Operation, 256> operations_;
    bool tells_methods_ = false, has_caches_ = false;
};

/// Null for a version whose instructions are not known: 2.7, and 3.16 and later.
const Operations* operations_of(const LayoutVersion& version);

}  // namespace heapsift
