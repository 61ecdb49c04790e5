#pragma once

// Fills the columns of a NativeGraph.

#include "parsers/snapshot/native_graph.h"

namespace heapsift {

class NativeGraphBuilder {
public:
    /// Of a heap with so many objects.
    explicit NativeGraphBuilder(std::size_t objects) : objects_(objects) {}

    /// All blocks, in order of their numbers; from the last of one run to the first of the next, `begin_run`.
    void add_block(Address start, std::uint64_t bytes, Credit credit);
    void begin_run() { graph_.runs_[runs_++] = graph_.starts_.fill().size(); }
    /// Then the words of each block, block by block.
    void begin_words() { starts_.push_back(graph_.targets_.fill().size()); }
    void add_word(BlockId target) { graph_.targets_.fill().push_back(node_of(target)); }
    /// Those of objects, object by object.
    void add_owned(ObjectId object, BlockId target);
    void add_entry(BlockId block, ReachedFrom from, Address word) {
        graph_.entries_.fill().push_back({block, from, word});
    }
    /// In order of blocks.
    void add_held(BlockId block, ObjectId object, Address word) {
        graph_.held_.fill().push_back({block, object, word});
    }
    /// Adds entries for the blocks that leaked: as few as lead to all of them.
    NativeGraph finish();

private:
    std::uint32_t node_of(BlockId block) const { return static_cast<std::uint32_t>(objects_ + block); }
    void add_leaked();

    std::size_t objects_;
    NativeGraph graph_;
    CompactColumn<std::uint32_t>::Builder bytes_;
    RowStartsBuilder starts_;
    std::size_t runs_ = 0;
};

}  // namespace heapsift
