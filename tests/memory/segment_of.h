#pragma once

// Bytes of a test as memory that a core has.

#include "parsers/elf/address_space.h"

#include <span>

namespace heapsift::test {

/// Writable and saved; `bytes` must outlive it. `module`: the number of the module whose data it is; -1: of none.
inline Segment segment_of(Address start, std::span<const std::byte> bytes, std::int32_t module = -1) {
    Segment s;
    s.start = start;
    s.size = bytes.size();
    s.data = bytes.data();
    s.state = ByteState::in_core;
    s.writable = true;
    s.module = module;
    return s;
}

}  // namespace heapsift::test
