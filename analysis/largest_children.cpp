// A list of a million entries dominates each of them, and a person reads the first hundred: so only the largest are
// kept while all are counted.

#include "analysis/largest_children.h"

#include "analysis/object_paths.h"
#include "parsers/base/in_pieces.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace heapsift {
namespace {

/// The largest of many, ties by number.
template <class I>
class Largest {
public:
    using Ranked = std::pair<std::uint64_t, I>;
    explicit Largest(std::size_t most) : most_(most) {}

    bool may_add(std::uint64_t bytes) const {
        return best_.size() < most_ || (most_ > 0 && bytes >= best_.front().first);
    }
    void add(std::uint64_t bytes, I id) {
        const Ranked one{bytes, id};
        if (most_ == 0 || (best_.size() == most_ && !is_before(one, best_.front()))) return;
        if (best_.size() == most_) {
            std::pop_heap(best_.begin(), best_.end(), is_before);
            best_.pop_back();
        }
        best_.push_back(one);
        std::push_heap(best_.begin(), best_.end(), is_before);
    }
    /// In order.
    std::vector<Ranked> take() {
        std::sort_heap(best_.begin(), best_.end(), is_before);
        return std::exchange(best_, {});
    }

private:
    static bool is_before(const Ranked& a, const Ranked& b) {
        return a.first != b.first ? a.first > b.first : a.second < b.second;
    }

    std::size_t most_;
    std::vector<Ranked> best_;  // a heap, the least at its front
};

ReferenceStep name_in_call(const HeapGraph& graph, NodeId call, NodeId child) {
    ReferenceStep best;
    for (const HeapGraph::PlacedRoot& placed : graph.roots_of(graph.object_of(child))) {
        if (placed.parent != call) continue;
        if (!placed.root.name.is_null()) {
            const auto name = graph.heap().python_heap().unicode_text(placed.root.name, 200);
            return attribute_step(name.value_or("?"));
        }
        best = named_step(placed.root.text);
    }
    return best;
}

}  // namespace

LargestChildren largest_children(const RetainedLookup& retained, const ModuleNodes& modules, NodeId node,
                                 std::size_t most, bool shared) {
    const HeapGraph& graph = retained.graph();
    LargestChildren found;
    // What retains nothing lies in a program's own file (small integers): nothing keeps it alive.
    const auto count = [&](std::uint64_t bytes) {
        found.total += bytes > 0;
        found.total_retained += bytes;
        return bytes > 0;
    };
    Largest<NodeId> best(most);
    const auto take = [&](NodeId child) {
        const std::uint64_t bytes = retained.memory(child);
        if (count(bytes)) best.add(bytes, child);
    };
    if (node == graph.root()) {
        retained.visit_children(node, [&](NodeId child) {
            if (is_object(graph, child) == shared) take(child);
        });
    } else if (is_module_group(graph, node) || modules.is_module(node)) {
        visit_shown_children(retained, modules, node, take);
    } else {
        retained.visit_children_at(node, [&](std::uint32_t position) {
            const std::uint64_t bytes = retained.memory_at(position);
            if (count(bytes) && best.may_add(bytes)) best.add(bytes, graph.preorder().node_at(position));
        });
    }
    for (const auto& [bytes, child] : best.take()) found.nodes.push_back(child);
    return found;
}

namespace {

/// As it is kept.
struct KeptLargest {
    LargestOfType found;

    std::size_t rows() const { return found.objects.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        part.number(self.found.count);
        kept_object_list(self.found.objects, part, heap);
    }
};

constexpr std::size_t looked_up_at_once = 64;

/// Where an object is in the preorder, and what is retained there, lie anywhere in memory: several are read at a time, and
/// nothing is decided until all of them are here.
void add_largest(const RetainedLookup& retained, std::span<const ObjectId> objects, Largest<ObjectId>& best) {
    std::array<std::uint32_t, looked_up_at_once> positions;
    std::array<std::uint64_t, looked_up_at_once> bytes;
    for (std::size_t i = 0; i < objects.size(); ++i) positions[i] = retained.graph().position(objects[i]);
    for (std::size_t i = 0; i < objects.size(); ++i)
        bytes[i] = positions[i] == Preorder::none ? 0 : retained.memory_at(positions[i]);
    for (std::size_t i = 0; i < objects.size(); ++i)
        if (best.may_add(bytes[i])) best.add(bytes[i], objects[i]);
}

LargestOfType find_largest(const RetainedLookup& retained, TypeId type, std::size_t most) {
    const HeapSnapshot& columns = retained.graph().columns();
    constexpr std::size_t piece_size = std::size_t{1} << 18;
    const std::size_t count = columns.object_count();
    struct Part {
        Largest<ObjectId> best{0};
        std::uint64_t count = 0;
    };
    LargestOfType found;
    Largest<ObjectId> best(most);
    in_pieces<Part>((count + piece_size - 1) / piece_size,
                    [&](std::size_t number, Part& part) {
                        part = {Largest<ObjectId>(most), 0};
                        const Piece piece = piece_of(number, count, piece_size);
                        std::array<ObjectId, looked_up_at_once> objects{};
                        std::size_t waiting = 0;
                        const auto look_up = [&] {
                            add_largest(retained, {objects.data(), waiting}, part.best);
                            part.count += std::exchange(waiting, 0);
                        };
                        for (std::size_t i = piece.begin; i < piece.end; ++i) {
                            const ObjectId object(static_cast<std::uint32_t>(i));
                            if (columns.type_of(object) != type) continue;
                            objects[waiting++] = object;
                            if (waiting == objects.size()) look_up();
                        }
                        look_up();
                    },
                    [&](std::size_t, Part& part) {
                        found.count += part.count;
                        for (const auto& [bytes, object] : part.best.take()) best.add(bytes, object);
                    });
    for (const auto& [bytes, object] : best.take()) found.objects.push_back(object);
    return found;
}

}  // namespace

LargestOfType largest_of_type(const RetainedLookup& retained, TypeId type, std::size_t most,
                              KeptAnswers* answers) {
    const auto question = KeptQuestion("largest").with(std::uint32_t{type}).with(most);
    return kept_answer(answers, question, retained.graph().heap(),
                       [&] { return KeptLargest{find_largest(retained, type, most)}; })
        .found;
}

std::vector<ReferenceStep> names_of_children(const RetainedLookup& retained, const ModuleNodes& modules,
                                             std::span<const NodeId> children) {
    const HeapGraph& graph = retained.graph();
    std::vector<StepsBetween::Pair> pairs;
    const auto pair_of = [&](NodeId child) {
        return StepsBetween::Pair{graph.object_of(retained.dominator(child)), graph.object_of(child)};
    };
    const auto has_pair = [&](NodeId child) {
        const NodeId above = retained.dominator(child);
        return is_object(graph, child) && above != no_node && is_object(graph, above);
    };
    for (const NodeId child : children)
        if (has_pair(child)) pairs.push_back(pair_of(child));
    const StepsBetween steps(graph.heap(), std::move(pairs));
    std::vector<ReferenceStep> names;
    for (const NodeId child : children) {
        const NodeId above = retained.dominator(child);
        if (has_pair(child)) {
            const ReferenceStep& step = steps.of(pair_of(child).source, pair_of(child).target).step;
            const auto attribute = modules.is_dict(above) ? as_attribute(step) : std::nullopt;
            names.push_back(attribute.value_or(step));
        } else if (is_object(graph, child) && above != no_node && graph.kind(above) == NodeKind::frame) {
            names.push_back(name_in_call(graph, above, child));
        } else {
            names.emplace_back();
        }
    }
    return names;
}

}  // namespace heapsift
