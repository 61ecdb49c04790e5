#pragma once

// Instructions of compiled Python code, as far as they tell what a function stores and takes out.

#include "parsers/cpython/build/python_version.h"

#include <cstddef>
#include <cstdint>
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
