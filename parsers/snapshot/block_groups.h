#pragma once

// Blocks that no Python object owns, counted by their size and, if they are C++ objects, by their class.

#include "parsers/elf/core_file.h"
#include "parsers/memory/allocator.h"
#include "parsers/snapshot/block_group.h"

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace heapsift {

class BlockGroups {
public:
    explicit BlockGroups(const CoreFile& core);
    /// Cost: a look at the block's first word, and a look-up in a small table.
    /// Blocks with different labels are counted apart.
    /// Returns the number of the block's group.
    std::uint32_t add(const MemoryBlock& block, std::uint32_t label = 0);
    /// By number.
    std::vector<BlockGroup> take();

private:
    struct Key {
        std::uint64_t size;
        Address table;
        std::uint32_t label;
        bool operator==(const Key&) const = default;
    };
    struct Hash {
        std::size_t operator()(const Key& key) const {
            return (key.size * 0x9e3779b97f4a7c15) ^ (key.table.value * 0xc2b2ae3d27d4eb4f) ^
                   (std::uint64_t{key.label} * 0x165667b19e3779f9);
        }
    };
    bool is_table(Address address);

    const CoreFile& core_;
    Address lowest_, highest_;                        // of all modules
    std::unordered_map<std::uint64_t, bool> tables_;  // what was found out before
    std::unordered_map<Key, BlockGroup, Hash> groups_;
    BlockGroup* last_ = nullptr;  // blocks of one size often lie together
};

}  // namespace heapsift
