#pragma once

// Blocks of C++ libraries that count the pointers which own them: which words these are. (How that is told:
// counted_blocks.cpp.)

#include "parsers/elf/word_sweep.h"
#include "parsers/libraries/tensor_layout.h"
#include "parsers/memory/block_numbers.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/native_words.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/pointer_fields.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

namespace heapsift {

/// Refers to what it reads. Empty, and no cost, in a process without torch's tensors.
class CountedBlocks {
public:
    CountedBlocks(const CoreFile& core, const ObjectAccess& access, const FoundObjects& objects,
                  const BlockNumbers& numbers);

    /// The block that a word leads to, unless it is an object's.
    using FindBlock = std::function<std::optional<BlockNumbers::Block>(std::uint64_t word)>;

    /// Once `fields` are learned. Cost: one more pass over all blocks, 1 ns a word.
    void find(const NativeWords& words, const PointerFields& fields, const FindBlock& find_block);

    /// Whether all is said of the words that lead to this block.
    bool knows(std::uint32_t number) const { return !states_.empty() && states_[number] != State::other; }
    /// What to believe of a word at `at` that leads `offset` bytes behind the start of a block; `otherwise`
    /// for blocks of which nothing is known here.
    Belief belief(Address at, std::uint32_t number, std::uint64_t offset, Belief otherwise) const;
    /// The same of the word `index` of a block of C code.
    Belief belief(const BlockNumbers::Block& source, std::size_t index, std::uint32_t number,
                  std::uint64_t offset, Belief otherwise) const {
        if (!is_field(source, index)) return Belief::none;
        return belief(source.start + 8 * index, number, offset, otherwise);
    }

private:
    enum class State : std::uint8_t {
        other,    // nothing is known
        lacking,  // counted, and more own it than were found
        counted,  // counted, and its owners were found
        data      // the bytes of a storage, which owns them alone
    };
    enum class Source : std::uint8_t {
        other,
        tensor,        // a TensorImpl, of no subclass
        large_tensor,  // the same with sizes in a block of their own
        storage,
        noted  // what autograd notes of a tensor
    };
    struct Target {
        std::uint64_t start;
        std::uint32_t number, count;
        bool is_tensor;
    };
    /// A word that leads to the start of a target; the lowest rank owns it first.
    struct Candidate {
        std::uint32_t target;
        std::uint8_t rank;
        Address word;
    };

    bool is_field(const BlockNumbers::Block& source, std::size_t index) const;
    void learn_tables();
    void find_targets(const FindBlock& find_block);
    void add_data(const StorageFacts& storage, const FindBlock& find_block);
    void look_at_blocks(const PointerFields& fields, const FindBlock& find_block);
    void look_at_objects(const NativeWords& words);
    void choose();
    const Target* target_at(std::uint64_t start) const;
    /// visit(offset, word, target) for each word of `bytes` that leads to the start of a target.
    template <class Visit>
    void visit_targets(std::span<const std::byte> bytes, Visit&& visit) const {
        for (std::uint64_t at = 0; at + 8 <= bytes.size(); at += 8) {
            at = starts_.next_in(bytes.data(), at, bytes.size());
            if (at + 8 > bytes.size()) break;
            std::uint64_t word = 0;
            std::memcpy(&word, bytes.data() + at, 8);
            if (const Target* const target = target_at(word)) visit(at, word, target);
        }
    }

    const CoreFile& core_;
    const ObjectAccess& access_;
    const FoundObjects& objects_;
    const BlockNumbers& numbers_;
    TorchHeader header_ = TorchHeader::words;
    std::vector<Address> tensor_tables_, storage_tables_;  // of virtual functions; few
    std::vector<Target> targets_;                          // by start
    AddressSet starts_{{}};
    std::vector<Candidate> candidates_;
    std::vector<State> states_;         // by block number
    std::vector<Source> sources_;       // by block number
    std::vector<Address> owner_words_;  // sorted
};

}  // namespace heapsift
