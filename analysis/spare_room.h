#pragma once

// Room that a container has and does not use: after many deletions, or made in advance.

#include "parsers/cpython/object_kind.h"

#include <cstdint>
#include <optional>

namespace heapsift {

enum class SpareKind : std::uint8_t { list, dict, set, bytearray };

/// Bytes of the memory beside the object's own block, as the allocator rounds them.
struct SpareRoom {
    SpareKind kind = SpareKind::list;
    std::uint64_t now = 0, needed = 0;  // `needed`: of a copy with the same content

    std::uint64_t saves() const { return now - needed; }
};

/// What the allocator hands out for `bytes`: pymalloc a multiple of 16, above 512 bytes what glibc's malloc
/// lets a program use of a chunk. 0 for none.
std::uint64_t block_bytes(std::uint64_t bytes);

/// Nothing for objects of other types, and for containers that are not much larger than their content: a copy
/// would need more than half as much (a set: a quarter, since sets grow by four). Nothing for tables that
/// other dicts share.
std::optional<SpareRoom> spare_room(const ObjectReader& object);

}  // namespace heapsift
