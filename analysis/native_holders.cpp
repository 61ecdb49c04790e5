// A word of C code's memory that holds an object stands in a block, and that block is there because something
// leads to it. A search in breadth through the blocks' words finds the shortest way to each: first from the
// objects that own blocks, then from variables, stacks and other memory, last from blocks that leaked. So a
// block that an object owns hangs there, even if a variable leads to it as well, as in the graph
// (holding/heap_graph.cpp). 8 bytes for each block while it works, 4 afterwards.
//
// An object that blocks alone hold leads on to its own blocks once one of its holders is reached; else a tensor
// and its C++ side, which own each other, would be the whole answer.
//
// Of a word on a stack the thread is known: the one with the highest stack pointer below the word. The
// function is not: the nearest return address is often an old one, or a function pointer that stands behind a
// call. (Tried.)

#include "analysis/native_holders.h"

#include "analysis/holding/groups.h"
#include "analysis/native_contents.h"
#include "parsers/base/text.h"
#include "parsers/snapshot/reference_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace heapsift {
namespace {

constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();

/// Objects that words of blocks hold, and nothing else that was found; sorted.
std::vector<ObjectId> held_by_blocks_alone(const HeapReader& heap) {
    const ReferenceGraph& references = *heap.snapshot().references;
    std::vector<ObjectId> held, alone;
    for (const NativeGraph::Held& one : heap.snapshot().native_graph->held()) held.push_back(one.object);
    std::sort(held.begin(), held.end());
    for (auto at = held.begin(); at != held.end();) {
        const auto end = std::upper_bound(at, held.end(), *at);
        if (references.found(*at) <= static_cast<std::uint64_t>(end - at)) alone.push_back(*at);
        at = end;
    }
    return alone;
}

std::string stack_words(const HeapReader& heap, Address word) {
    const CoreThread* const thread = thread_at(heap.core(), word);
    if (!thread) return "a stack of C code";
    if (heap.snapshot().roots.there())
        for (const PythonThread& python : heap.snapshot().roots->threads())
            if (python.tid == thread->tid && !python.name.empty())
                return "the stack of thread " + python.name;
    return fmt::format("the stack of thread {}", thread->tid);
}

}  // namespace

void NativeHolderFinder::find_ways() {
    const NativeGraph& native = *heap_.snapshot().native_graph;
    const std::size_t count = native.size(), objects = heap_.snapshot().object_count();
    const std::vector<ObjectId> waiting = held_by_blocks_alone(heap_);
    std::vector<bool> opened(waiting.size());
    previous_.assign(count, unknown);
    std::vector<BlockId> reached;
    std::size_t next = 0;
    const auto reach = [&](BlockId block, std::size_t from) {
        if (previous_[block] != unknown || from >= unknown) return;
        previous_[block] = static_cast<std::uint32_t>(from);
        reached.push_back(block);
    };
    const auto open = [&](std::size_t owner) {
        for (const std::uint32_t target : native.owned(owner))
            reach(BlockId(target - objects), count + owner);
    };
    const auto place_among_waiting = [&](ObjectId object) {
        const auto at = std::lower_bound(waiting.begin(), waiting.end(), object);
        return at != waiting.end() && *at == object ? static_cast<std::size_t>(at - waiting.begin())
                                                    : waiting.size();
    };
    const auto open_held = [&](ObjectId object) {
        const std::size_t place = place_among_waiting(object);
        if (place == waiting.size() || opened[place]) return;
        opened[place] = true;
        const auto owner = std::lower_bound(
            native.owners().begin(), native.owners().end(), object,
            [](const NativeGraph::Owner& one, ObjectId other) { return one.object < other; });
        if (owner != native.owners().end() && owner->object == object)
            open(static_cast<std::size_t>(owner - native.owners().begin()));
    };
    const auto spread = [&] {
        for (; next < reached.size(); ++next) {
            const BlockId block = reached[next];
            for (const std::uint32_t target : native.targets(block)) reach(BlockId(target - objects), block);
            auto held = std::lower_bound(
                native.held().begin(), native.held().end(), block,
                [](const NativeGraph::Held& one, BlockId other) { return one.block < other; });
            for (; held != native.held().end() && held->block == block; ++held) open_held(held->object);
        }
    };
    const auto open_entries = [&](bool leaked) {
        for (std::size_t at = 0; at < native.entries().size(); ++at) {
            const NativeGraph::Entry& entry = native.entries()[at];
            if ((entry.from == ReachedFrom::nothing) == leaked)
                reach(entry.block, count + native.owners().size() + at);
        }
        spread();
    };
    for (std::size_t at = 0; at < native.owners().size(); ++at)
        if (place_among_waiting(native.owners()[at].object) == waiting.size()) open(at);
    spread();
    open_entries(false);
    open_entries(true);
    for (std::size_t at = 0; at < native.owners().size(); ++at) open(at);
    spread();
}

/// One way, kept alone.
struct NativeHolderFinder::KeptWay {
    Way way;

    std::size_t rows() const { return way.blocks.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        const NativeGraph& native = *heap.snapshot().native_graph;
        part.list(self.way.blocks, [&](auto& block, Part& p) {
            p.number(block);
            p.require(block < native.size(), "a number is no block's");
        });
        part.number(self.way.from);
        part.require(!self.way.blocks.empty(), "a way has no blocks");
    }
};

/// Several ways, kept together.
struct NativeHolderFinder::KeptWays {
    std::map<BlockId, Way> ways;

    std::size_t rows() const {
        std::size_t count = 0;
        for (const auto& [block, way] : ways) count += way.blocks.size();
        return count;
    }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        std::vector<KeptWay> all;
        for (const auto& [block, way] : self.ways) all.push_back({way});
        if constexpr (Part::reading) {
            part.list(all, [&](KeptWay& one, Part& p) { KeptWay::fields(one, p, heap); });
            for (KeptWay& one : all) {
                const BlockId block = one.way.blocks.front();
                self.ways.emplace(block, std::move(one.way));
            }
        } else {
            part.list(all, [&](const KeptWay& one, Part& p) { KeptWay::fields(one, p, heap); });
        }
    }
};

/// To search so many blocks takes some milliseconds.
bool NativeHolderFinder::is_large() const {
    constexpr std::size_t worth_keeping = 200'000;
    return heap_.snapshot().native_graph->size() >= worth_keeping;
}

NativeHolderFinder::Way NativeHolderFinder::found_way(BlockId block) {
    if (const auto known = known_.find(block); known != known_.end()) return known->second;
    const auto find = [&] {
        if (previous_.empty()) find_ways();
        const std::size_t count = heap_.snapshot().native_graph->size();
        Way way;
        for (std::size_t at = block; at < count; at = previous_[at]) way.blocks.push_back(BlockId(at));
        way.from = static_cast<std::uint32_t>(previous_[way.blocks.back()] - count);
        return KeptWay{std::move(way)};
    };
    if (!answers_ || !is_large() || !previous_.empty()) return find().way;
    return answers_->of(KeptQuestion("way").with(std::uint32_t{block}), heap_, find).way;
}

void NativeHolderFinder::find_ways_to(const std::vector<Address>& words, const KeptQuestion& question,
                                      KeptAnswers* answers) {
    if (!answers || !heap_.snapshot().native_graph.there() || !is_large()) return;
    KeptWays kept = answers->of(question, heap_, [&] {
        KeptWays found;
        for (const Address word : words)
            if (const BlockId block = heap_.snapshot().native_graph->find(word); block != no_block)
                found.ways.emplace(block, found_way(block));
        return found;
    });
    known_ = std::move(kept.ways);
}

NativeWay NativeHolderFinder::way_to(BlockId block) {
    const NativeGraph& native = *heap_.snapshot().native_graph;
    Way found = found_way(block);
    NativeWay way{std::move(found.blocks), {}};
    std::size_t from = found.from;
    if (from < native.owners().size()) {
        way.beginning = end_at(heap_, native.owners()[from].object);
    } else if (from -= native.owners().size(); from < native.entries().size()) {
        way.beginning = end_at(heap_, native.entries()[from]);
    } else {
        way.beginning.words = "nothing that is known";
    }
    return way;
}

NativeEnd NativeHolderFinder::place_of(Address word) const {
    NativeEnd end;
    end.address = word;
    const auto natives = heap_.snapshot().references->natives();
    const auto at = std::lower_bound(natives.begin(), natives.end(), word,
                                     [](const NativeReference& a, Address b) { return a.word < b; });
    if (at == natives.end() || at->word != word) return end;
    switch (at->place) {
        case NativePlace::module_data:
            end.words = variable_words(heap_.core(), word);
            break;
        case NativePlace::stack:
            end.words = stack_words(heap_, word);
            break;
        case NativePlace::block:
            if (heap_.snapshot().native_graph.there()) end.words = "memory without a known owner";
            break;
        case NativePlace::at_exit:
            end.words = "a callback of atexit";
            break;
        case NativePlace::signal_handler:
            end.words = "a signal handler";
            break;
        case NativePlace::interpreter:
        case NativePlace::frame:
            break;
    }
    return end;
}

NativeHolder NativeHolderFinder::of(Address word, std::size_t most_blocks) {
    NativeHolder holder;
    holder.word = word;
    const auto value = heap_.core().memory().read_address(word);
    holder.marked = value && !value->aligned(8);
    const BlockId block =
        heap_.snapshot().native_graph.there() ? heap_.snapshot().native_graph->find(word) : no_block;
    if (block == no_block) {
        holder.way.push_back(place_of(word));
        return holder;
    }
    NativeWay way = way_to(block);
    const std::size_t named = std::min(most_blocks, way.blocks.size());
    holder.left_out = way.blocks.size() - named;
    for (std::size_t i = 0; i < named; ++i) holder.way.push_back(end_at(heap_, way.blocks[i]));
    holder.way.push_back(std::move(way.beginning));
    return holder;
}

bool may_be_held_by_c_code(const HeapReader& heap, ObjectId object) {
    const ReferenceGraph& references = *heap.snapshot().references;
    const CollectorFacts facts = heap.collector_facts(object);
    if (facts.immortal) return false;
    if (facts.refcount > static_cast<std::int64_t>(references.found(object))) return true;
    const auto natives = references.natives();
    return std::any_of(natives.begin(), natives.end(), [&](const NativeReference& native) {
        return native.target == object && native.place == NativePlace::block;
    });
}

}  // namespace heapsift
