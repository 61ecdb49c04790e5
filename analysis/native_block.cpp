#include "analysis/native_block.h"

#include "analysis/native_contents.h"
#include "analysis/object_paths.h"

#include <algorithm>

namespace heapsift {
namespace {

class BlockFinder {
public:
    BlockFinder(const HeapGraph& graph, const RetainedLookup& retained, BlockId block, std::size_t limit)
        : graph_(graph), native_(*graph.native()), retained_(retained), block_(block), limit_(limit) {}

    NativeBlock find(Address asked) {
        NativeBlock made;
        made.address = native_.start(block_);
        made.inside = asked - made.address;
        made.bytes = native_.bytes(block_);
        made.of_class = class_of_block(graph_.heap(), block_);
        made.content = native_content(memory(), made.address, made.bytes);
        made.credit = native_.credit(block_);
        made.retained = retained_.memory(graph_.node_of(block_));
        add_owner(made);
        add_referrers(made);
        if (made.credit != Credit::nothing) add_beginnings(made);
        for (const NodeId target : graph_.targets(graph_.node_of(block_)))
            add(made.referents, made.total_referents, target);
        return made;
    }

private:
    const AddressSpace& memory() const { return graph_.heap().core().memory(); }

    void add_owner(NativeBlock& made) const {
        const NodeId owner = retained_.dominator(graph_.node_of(block_));
        if (graph_.kind(owner) == NodeKind::object) {
            const ObjectId object = HeapGraph::object_of(owner);
            made.owner = object_row(graph_.heap(), object);
            made.owner->retained = retained_.memory(owner);
            made.owner->native = retained_.native(owner);
            if (auto found = ExpressionFinder(graph_, {object}).of(object))
                made.expression = std::move(found->expression);
            return;
        }
        const GroupId group = retained_.group(graph_.node_of(block_));
        made.shared = group == no_group;
        if (!made.shared) made.group = graph_.groups()[group].name;
    }

    /// Back from the block, over blocks.
    void add_beginnings(NativeBlock& made) const {
        std::vector<std::uint64_t> begin(native_.size() + 1);
        const auto first = static_cast<std::uint32_t>(graph_.object_count());
        for (BlockId block{0}; block < native_.size(); ++block)
            for (const std::uint32_t target : native_.targets(block)) ++begin[target - first + 1];
        for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
        std::vector<BlockId> sources(begin.back());
        std::vector<std::uint64_t> next(begin.begin(), begin.end() - 1);
        for (BlockId block{0}; block < native_.size(); ++block)
            for (const std::uint32_t target : native_.targets(block)) sources[next[target - first]++] = block;
        std::vector<bool> met(native_.size());
        std::vector<BlockId> waiting{block_};
        met[block_] = true;
        while (!waiting.empty()) {
            const BlockId at = waiting.back();
            waiting.pop_back();
            for (std::uint64_t i = begin[at]; i < begin[at + 1]; ++i)
                if (!met[sources[i]]) {
                    met[sources[i]] = true;
                    waiting.push_back(sources[i]);
                }
        }
        for (std::size_t at = 0; at < native_.owners().size(); ++at) {
            const auto owned = native_.owned(at);
            if (std::any_of(owned.begin(), owned.end(),
                            [&](std::uint32_t node) { return met[node - first]; }))
                add(made.beginnings, made.total_beginnings, graph_.node_of(native_.owners()[at].object));
        }
        for (const NativeGraph::Entry& entry : native_.entries())
            if (met[entry.block] && entry.from != ReachedFrom::nothing)
                add_entry(made.beginnings, made.total_beginnings, entry);
    }

    void add_entry(std::vector<NativeEnd>& ends, std::uint64_t& total,
                   const NativeGraph::Entry& entry) const {
        ++total;
        if (limit_ != 0 && ends.size() >= limit_) return;
        ends.push_back(end_at(graph_.heap(), entry));
    }

    void add_referrers(NativeBlock& made) const {
        const NodeId self = graph_.node_of(block_);
        const auto leads_here = [&](std::span<const std::uint32_t> row) {
            return std::find(row.begin(), row.end(), std::uint32_t{self}) != row.end();
        };
        for (std::size_t at = 0; at < native_.owners().size(); ++at)
            if (leads_here(native_.owned(at)))
                add(made.referrers, made.total_referrers, graph_.node_of(native_.owners()[at].object));
        for (const NativeGraph::Entry& entry : native_.entries()) {
            if (entry.block == block_ && entry.from != ReachedFrom::nothing)
                add_entry(made.referrers, made.total_referrers, entry);
        }
        for (BlockId block{0}; block < native_.size(); ++block)
            if (leads_here(native_.targets(block)))
                add(made.referrers, made.total_referrers, graph_.node_of(block));
    }

    void add(std::vector<NativeEnd>& ends, std::uint64_t& total, NodeId node) const {
        ++total;
        if (limit_ != 0 && ends.size() >= limit_) return;
        ends.push_back(graph_.kind(node) == NodeKind::object
                           ? end_at(graph_.heap(), HeapGraph::object_of(node))
                           : end_at(graph_.heap(), graph_.block_of(node)));
    }

    const HeapGraph& graph_;
    const NativeGraph& native_;
    const RetainedLookup& retained_;
    BlockId block_;
    std::size_t limit_;
};

}  // namespace

BlockId native_block_at(const HeapGraph& graph, Address address) {
    return graph.native() ? graph.native()->find(address) : no_block;
}

NativeBlock native_block(const HeapGraph& graph, const RetainedSizes& sizes, BlockId block, Address asked,
                         std::size_t limit) {
    const RetainedLookup retained(graph, sizes);
    NativeBlock made = BlockFinder(graph, retained, block, limit).find(asked);
    made.allocated_at = allocated_at(graph.heap(), made.address + made.inside);
    return made;
}

}  // namespace heapsift
