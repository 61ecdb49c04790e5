#pragma once

// Blocks of C code as nodes of the heap's graph: which objects' words lead to them, which of them lead to each
// other, and where the ways to the others begin. (What is believed: native_blocks.cpp.)

#include "parsers/base/address.h"
#include "parsers/base/compact_column.h"
#include "parsers/base/ids.h"
#include "parsers/base/stored.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/row_starts.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace heapsift {

struct BlockOfNativeCode;
/// The number of a block that no Python object owns, from 0 on.
using BlockId = Id<BlockOfNativeCode>;
inline constexpr BlockId no_block;

/// Where the way to a block begins: the first of these from which there is one.
enum class ReachedFrom : std::uint32_t {
    objects,        // the memory of Python objects
    python_tables,  // blocks of pymalloc that are no object's
    modules,        // variables of programs and libraries
    mappings,       // memory that is no allocator's
    stacks,         // stacks and registers of threads
    numbers,        // a Python int is its address: a handle, or chance
    nothing         // leaked, as far as can be told: no word leads to it
};

/// What speaks for the way to a block.
enum class Credit : std::uint8_t {
    sure,     // from an object, by fields that are pointers
    likely,   // the same, by fields that are sometimes pointers
    perhaps,  // the same, by words that are where pointers lead
    chance,   // from an object, but by words that lead into the middle of a block
    other,    // from no object
    nothing   // from nowhere
};

/// Columns by block: 13 bytes for each, and 4 for each word that is believed.
class NativeGraph {
public:
    struct Entry {  // a block to which something other than an object or a block leads
        BlockId block = no_block;
        ReachedFrom from = ReachedFrom::nothing;
        Address word;  // modules: of the variable
    };
    struct Owner {  // an object whose words lead to blocks
        ObjectId object = no_object;
        std::uint32_t first = 0;  // in owned()
    };

    struct Held {  // an object that a word of a block holds
        BlockId block = no_block;
        ObjectId object = no_object;
        Address word;  // its own address
    };

    std::size_t size() const { return starts_.size(); }
    Address start(BlockId block) const { return starts_[block]; }
    /// That the program may use.
    std::uint64_t bytes(BlockId block) const { return bytes_[block]; }
    Credit credit(BlockId block) const { return static_cast<Credit>(credits_[block]); }
    /// The block that holds `address`; `no_block` for none. A binary search or three.
    BlockId find(Address address) const;

    /// The nodes to which a block leads: the number of objects, plus that of a block.
    std::span<const std::uint32_t> targets(BlockId block) const {
        return {targets_.data() + begin_[block], targets_.data() + begin_[block + 1]};
    }
    /// By object.
    std::span<const Owner> owners() const { return {owners_.data(), owners_.size()}; }
    /// The nodes to which the object at that place of `owners` leads.
    std::span<const std::uint32_t> owned(std::size_t owner) const {
        const std::size_t end = owner + 1 < owners_.size() ? owners_[owner + 1].first : owned_.size();
        return {owned_.data() + owners_[owner].first, owned_.data() + end};
    }
    /// From them all blocks can be reached that no object reaches; those that leaked, too.
    std::span<const Entry> entries() const { return {entries_.data(), entries_.size()}; }
    /// By block.
    std::span<const Held> held() const { return {held_.data(), held_.size()}; }
    std::uint64_t memory_bytes() const;

    /// As a part of an index (parsers/index/part.h), of a heap with so many objects.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t objects);

private:
    friend class NativeGraphBuilder;
    Stored<Address> starts_;               // three runs, each by address
    std::array<std::uint64_t, 2> runs_{};  // where the second and the third begin
    CompactColumn<std::uint32_t> bytes_;
    Stored<std::uint8_t> credits_;
    RowStarts begin_;  // by block, and one more
    Stored<std::uint32_t> targets_;
    Stored<Owner> owners_;
    Stored<std::uint32_t> owned_;
    Stored<Entry> entries_;
    Stored<Held> held_;
};

template <class Self, class Part>
void NativeGraph::fields(Self& self, Part& part, std::size_t objects) {
    const auto is_node = [&](std::uint32_t node) {
        return node >= objects && node - objects < self.starts_.size();
    };
    part.number(self.runs_);
    part.column(self.starts_, [&](const Address& start, std::size_t at) {
        return at == 0 || at == self.runs_[0] || at == self.runs_[1] || *(&start - 1) < start;
    });
    const std::size_t count = self.starts_.size();
    part.require(self.runs_[0] <= self.runs_[1] && self.runs_[1] <= count, "a run of blocks has no end");
    CompactColumn<std::uint32_t>::fields(self.bytes_, part, count);
    part.column(self.credits_,
                [](std::uint8_t credit) { return credit <= static_cast<std::uint8_t>(Credit::nothing); });
    part.require(self.credits_.size() == count, "not every block has its credit");
    part.column(self.targets_, is_node);
    RowStarts::fields(self.begin_, part, count + 1, self.targets_.size());
    part.column(self.owned_, is_node);
    part.column(self.owners_, [&](const Owner& owner, std::size_t at) {
        return owner.object < objects && owner.first <= self.owned_.size() &&
               (at == 0 ? owner.first == 0
                        : (&owner - 1)->object < owner.object && (&owner - 1)->first <= owner.first);
    });
    part.require(!self.owners_.empty() || self.owned_.empty(), "what is owned has no owner");
    part.column(self.held_, [&](const Held& held, std::size_t at) {
        return held.block < count && held.object < objects && (at == 0 || (&held - 1)->block <= held.block);
    });
    part.column(self.entries_, [&](const Entry& entry) {
        return entry.block < count && entry.from <= ReachedFrom::nothing;
    });
}

}  // namespace heapsift
