#pragma once

// Whether what lies at an address is an object, as far as that can be told from there: the conditions of
// builder.cpp's second and third step.

#include "parsers/elf/core_file.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"

#include <cstdint>
#include <vector>

namespace heapsift {

enum class Verdict : std::uint8_t { no, doubtful, yes };

/// Constant, and shared by threads. Refers to what it was made with.
class ObjectProof {
public:
    /// Blocks start at its multiples.
    static constexpr std::uint32_t granule = 16;

    ObjectProof(const CoreFile& core, const ObjectAccess& access);

    /// For a candidate in an allocated block of `block_size` bytes that begins where the object's memory
    /// does. `slack`: how many bytes the allocator may have given beyond what was asked for.
    Verdict in_block(Address object, const TypeInfo& type, std::uint64_t block_size,
                     std::uint64_t slack) const;
    /// For a candidate outside pymalloc's pools, and how it would be found.
    struct Elsewhere {
        Verdict verdict = Verdict::no;
        FoundBy found_by = FoundBy::reference;
    };
    Elsewhere elsewhere(Address object, TypeId type) const;
    bool on_a_stack(Address at) const;

private:
    bool header_reads(Address object, const TypeInfo& type) const;
    bool are_variables(Address object, const TypeInfo& type) const;
    bool fits_inside(Address object, const TypeInfo& type) const;
    bool in_block_of_numbers(Address object, const TypeInfo& type) const;

    const ObjectAccess& access_;
    const PythonHeap& heap_;
    const AddressSpace& memory_;
    std::vector<AddressRange> stacks_;
};

}  // namespace heapsift
