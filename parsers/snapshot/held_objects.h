#pragma once

// Objects that words of blocks of C code hold: as references that were found, and with torch's mark on the pointer.

#include "parsers/elf/word_sweep.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/native_graph.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/reference_graph.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

/// First `find`, then each block once to `look_at`, then `finish`; questions after that.
class HeldObjects {
public:
    struct Held {
        std::uint32_t number;  // of the block (parsers/memory/block_numbers.h)
        ObjectId object;
        Address word;  // its own address
    };
    /// An object that blocks alone hold: its words lead from whoever owns the block, once one of them is reached.
    struct Waits {
        ObjectId object;
        Credit credit = Credit::nothing;
        bool opened = false;
    };

    HeldObjects(const ObjectAccess& access, const FoundObjects& objects, const ReferenceGraph& references);

    /// `block_of`: the number of the block that a word lies in, if it is nobody's. Cost: a look at each object's count, or at
    /// those that are known to have room (ReferenceGraph::unexplained).
    void find(const std::function<std::optional<std::uint32_t>(Address word)>& block_of);
    /// Words of a block that are the address of an object with room in its count, and 1.
    void look_at(std::uint32_t number, Address start, std::span<const std::byte> bytes);
    void finish(std::size_t block_count);

    std::span<const Held> of_block(std::uint32_t number) const;
    std::span<const Held> all() const { return held_; }  // by number
    std::vector<Waits>& waits() { return waits_; }
    /// Null if something else holds it, or nothing.
    const Waits* waiting(ObjectId object) const;
    Waits* waiting(ObjectId object);
    /// No block holds it: what does belongs to the object itself.
    void let_go(ObjectId object);

private:
    const ObjectAccess& access_;
    const FoundObjects& objects_;
    const ReferenceGraph& references_;
    std::vector<Held> held_;
    AddressSet marked_{{}};
    std::vector<bool> holds_;   // by block number
    std::vector<Waits> waits_;  // by object
};

}  // namespace heapsift
