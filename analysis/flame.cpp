// One pass over the tree in preorder, where each node comes after its dominator: its stack is that of its
// dominator with one frame more, or the same one if the frame repeats. A linked list is a million deep, and
// so is one whose links alternate between an object and its dict.

#include "analysis/flame.h"

#include "analysis/native_end.h"
#include "analysis/object_row.h"
#include "analysis/path_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::uint32_t no_stack = Preorder::none;

struct Stack {
    std::uint32_t above = no_stack, label = 0, depth = 0;
    std::uint32_t run = 1;  // the longest chain that is folded in it
    std::uint64_t memory = 0;
    std::vector<std::uint32_t> below;  // in the order in which they were met
};

class Flame {
public:
    Flame(const RetainedLookup& retained, std::size_t depth)
        : retained_(retained), graph_(retained.graph()), depth_(depth) {
        const TypeTable& types = graph_.columns().types;
        label("…");
        for (const TypeInfo& type : types) label_of_type_.push_back(label(type.name));
        label_of_type_.push_back(label(type_name(types, no_type)));
        stacks_.emplace_back();  // the virtual root's
        const Preorder& preorder = graph_.preorder();
        std::vector<std::uint32_t> stack_of(preorder.reached(), 0), run_of(preorder.reached(), 1);
        std::vector<ObjectSizes> sizes(1);
        for (std::uint32_t p = 1; p < preorder.reached(); ++p) {
            const NodeId node = preorder.node_at(p);
            const std::uint32_t above = preorder.position(retained.dominator(node));
            const bool shared = above == 0 && graph_.kind(node) == NodeKind::object;
            const std::uint32_t from = shared ? below(0, label("shared by several groups")) : stack_of[above];
            const std::uint32_t at = stack_of[p] = extended(from, label_of(node));
            if (graph_.kind(node) == NodeKind::block) {
                stacks_[at].memory += graph_.native()->bytes(graph_.block_of(node));
                continue;
            }
            run_of[p] = at == stack_of[above] ? run_of[above] + 1 : 1;
            stacks_[at].run = std::max(stacks_[at].run, run_of[p]);
            if (graph_.kind(node) != NodeKind::object) continue;
            sizes[0] = ObjectSizes();
            graph_.heap().sizes(graph_.object_of(node), sizes);
            stacks_[at].memory += sizes[0].memory;
        }
    }

    void visit(const std::function<void(std::span<const std::string>, std::uint64_t)>& visit) const {
        std::vector<std::string> frames;
        std::vector<std::uint32_t> pending{0};
        while (!pending.empty()) {
            const std::uint32_t at = pending.back();
            pending.pop_back();
            const Stack& stack = stacks_[at];
            if (at != 0) {
                frames.resize(stack.depth - 1);
                const std::string& label = labels_[stack.label];
                frames.push_back(stack.run > 1 && stack.label != 0 ? fmt::format("{} ×{}", label, stack.run)
                                                                   : label);
            }
            if (stack.memory > 0) visit(frames, stack.memory);
            pending.insert(pending.end(), stack.below.rbegin(), stack.below.rend());
        }
    }

private:
    /// The number of a label: classes that are created repeatedly have one name, and so have the frames of a
    /// recursion.
    std::uint32_t label(const std::string& text) {
        const auto [known, is_new] =
            label_numbers_.try_emplace(text, static_cast<std::uint32_t>(labels_.size()));
        if (is_new) labels_.push_back(text);
        return known->second;
    }

    std::uint32_t label_of(NodeId node) {
        const HeapSnapshot& columns = graph_.columns();
        switch (graph_.kind(node)) {
            case NodeKind::object: {
                const TypeId type = columns.type_of(graph_.object_of(node));
                return label_of_type_[type == no_type ? columns.types.size() : type];
            }
            case NodeKind::block:
                return label_of_block(graph_.block_of(node));
            case NodeKind::group:
                return label(graph_.groups()[graph_.group_of(node)].name);
            case NodeKind::frame:
                return label(frame_words(graph_.frame(graph_.frame_of(node))));
            case NodeKind::root:
                break;
        }
        return 0;
    }

    /// Its C++ class, where that has a name; asked once for each first word.
    std::uint32_t label_of_block(BlockId block) {
        const auto table = graph_.heap().core().memory().read_address(graph_.native()->start(block));
        const auto [known, is_new] = label_of_table_.try_emplace(table ? table->value : 0, 0);
        if (is_new) {
            const std::string of_class = table ? class_of_block(graph_.heap(), block) : std::string();
            known->second = label(of_class.empty() ? "C/C++ memory" : of_class);
        }
        return known->second;
    }

    std::uint32_t extended(std::uint32_t stack, std::uint32_t label) {
        const Stack& own = stacks_[stack];
        if (own.label == label || (own.label == 0 && stack != 0)) return stack;
        if (own.above != no_stack && own.above != 0) {
            // a, b, a, and now b again
            const Stack& before = stacks_[own.above];
            if (before.label == label && before.above != no_stack && stacks_[before.above].label == own.label)
                return own.above;
        }
        return below(stack, own.depth + 1 >= depth_ ? 0 : label);
    }

    std::uint32_t below(std::uint32_t stack, std::uint32_t label) {
        const auto [known, is_new] =
            number_.try_emplace({stack, label}, static_cast<std::uint32_t>(stacks_.size()));
        if (!is_new) return known->second;
        Stack made;
        made.above = stack;
        made.label = label;
        made.depth = stacks_[stack].depth + 1;
        stacks_.push_back(std::move(made));
        stacks_[stack].below.push_back(known->second);
        return known->second;
    }

    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    std::size_t depth_;
    std::vector<std::string> labels_;  // "…", types, then groups and frames
    std::unordered_map<std::string, std::uint32_t> label_numbers_;
    std::vector<std::uint32_t> label_of_type_;
    std::unordered_map<std::uint64_t, std::uint32_t> label_of_table_;
    std::vector<Stack> stacks_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> number_;
};

}  // namespace

void visit_flame_stacks(const HeapGraph& graph, const RetainedSizes& sizes, std::size_t depth,
                        const std::function<void(std::span<const std::string>, std::uint64_t)>& visit) {
    Flame(RetainedLookup(graph, sizes), depth).visit(visit);
}

}  // namespace heapsift
