#pragma once

// Which words of a type's instances are places in memory that they do not own. (How it is told: object_fields.cpp.)

#include "parsers/cpython/types.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/pointer_fields.h"

#include <cstdint>
#include <vector>

namespace heapsift {

class ObjectFields {
public:
    using Field = std::uint16_t;
    static constexpr Field none = 0xffff;
    /// The field `offset` bytes behind the start of an object; `none` before it, and beyond the first 512 bytes.
    static Field at(std::uint64_t offset) {
        return offset % 8 == 0 && offset / 8 < most_fields ? static_cast<Field>(offset / 8) : none;
    }

    /// A word that leads into malloc's memory: `to_block` if to the start of a block in use, or near it.
    void count(TypeId type, Field field, bool to_block);
    /// True if most such words lead elsewhere: into the middle of something, or to what is free.
    bool is_place(TypeId type, Field field) const;

private:
    static constexpr std::uint64_t most_fields = 64;
    struct Counts {
        std::uint32_t to_blocks = 0, elsewhere = 0;
    };
    std::vector<std::vector<Counts>> of_types_;
};

/// A word of an object, or of what it owns, that leads into a block of C code.
struct ObjectWord {
    ObjectId object;
    Belief belief;
    ObjectFields::Field field;
    Address to;
};

}  // namespace heapsift
