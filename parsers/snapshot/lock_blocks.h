#pragma once

// Blocks of C code in which no word is a pointer: a lock's, a file's buffer. (How they are told: lock_blocks.cpp.)

#include "parsers/snapshot/object_access.h"

#include <cstdint>
#include <vector>

namespace heapsift {

class LockBlocks {
public:
    /// Looks at each type once.
    explicit LockBlocks(const ObjectAccess& access);

    /// Whether what an object of the type holds as C code's blocks leads nowhere. False for `no_type`.
    bool holds_no_pointers(TypeId type) const { return type != no_type && types_[type]; }

private:
    std::vector<bool> types_;  // by TypeId
};

}  // namespace heapsift
