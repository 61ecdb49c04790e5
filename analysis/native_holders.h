#pragma once

// What holds an object from C code: the block, the variable or the stack that has the word, and on what that
// hangs in turn. (How the way is chosen: native_holders.cpp.)

#include "analysis/kept_answers.h"
#include "analysis/native_end.h"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace heapsift {

struct NativeHolder {
    Address word;  // its own address
    /// What has the word comes first, then what leads to that, and so on. The last one is no block: it is an
    /// object, a variable, a stack, or nothing at all (leaked). A variable or a stack that has the word
    /// itself is alone; it has no words where the reference's own name says it (a running function, the
    /// interpreter's state).
    std::vector<NativeEnd> way;
    std::uint64_t left_out = 0;  // blocks of the way before its last end
    bool marked = false;  // the word is the object's address and some tag: torch adds 1 to those that it owns
};

/// A way through blocks.
struct NativeWay {
    std::vector<BlockId> blocks;  // the one that was asked for first
    NativeEnd beginning;          // what leads to the last of them
};

/// Names holders one after another. Refers to the heap: use it within one call.
class NativeHolderFinder {
public:
    /// For a heap with references. Without native memory in its graph, blocks have no names and no ways. Of many
    /// blocks, each way is kept in `answers`.
    explicit NativeHolderFinder(const HeapReader& heap, KeptAnswers* answers = nullptr)
        : heap_(heap), answers_(answers) {}

    /// Finds the ways to all blocks that have one of the words, and keeps them together: before `of`, where many
    /// words are asked for. `question`: what shapes the words.
    void find_ways_to(const std::vector<Address>& words, const KeptQuestion& question, KeptAnswers* answers);

    /// `word`: of a reference from C code. At most `most_blocks` (at least 1) of the way are named.
    NativeHolder of(Address word, std::size_t most_blocks = 4);
    /// The shortest way to `block`, from an object if it has an owner.
    NativeWay way_to(BlockId block);

private:
    /// As it is kept.
    struct Way {
        std::vector<BlockId> blocks;
        std::uint32_t from = 0;  // an owner, or behind the owners an entry
    };
    struct KeptWay;
    struct KeptWays;
    Way found_way(BlockId block);
    bool is_large() const;
    void find_ways();
    NativeEnd place_of(Address word) const;

    const HeapReader& heap_;
    KeptAnswers* answers_;
    std::map<BlockId, Way> known_;
    /// By block: what leads there. A block, from `size()` on an owner, then an entry. Made at the first
    /// question.
    std::vector<std::uint32_t> previous_;
};

/// Whether C code holds the object as far as its count and the words that were found tell: then it is worth
/// knowing which blocks there are. Cost: a look at the references from C code.
bool may_be_held_by_c_code(const HeapReader& heap, ObjectId object);

}  // namespace heapsift
