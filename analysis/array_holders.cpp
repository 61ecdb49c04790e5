// Rows by holder: an array that something other than a base holds counts for the holder on its cheapest path.
// An owner counts once: for its own holder, or, if kept alive by views alone, for that of the view which the
// search for paths reached first.

#include "analysis/array_holders.h"

#include "analysis/arrays_in_hand.h"
#include "analysis/graph/common_dominator.h"
#include "analysis/holder_labels.h"
#include "analysis/object_paths.h"
#include "parsers/base/text.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

namespace heapsift {
namespace {

constexpr std::uint32_t no_row = 0xffffffff;

/// For nodes that are not objects.
std::string node_words(const HeapGraph& graph, NodeId node) {
    switch (graph.kind(node)) {
        case NodeKind::root:
            return "several groups";
        case NodeKind::group:
            return graph.groups()[graph.group_of(node)].name;
        case NodeKind::frame:
            return frame_words(graph.frame(graph.frame_of(node)));
        case NodeKind::block:
        case NodeKind::object:
            break;
    }
    return {};
}

/// The table under construction: first arrays are counted, then owners; then the rows are sorted and
/// completed.
class HolderRows {
public:
    HolderRows(const HeapGraph& graph, const ArrayTable& table, const std::vector<PandasFrame>& frames,
               bool only_pinned, const ProgressCallback& progress)
        : graph_(graph),
          table_(table),
          only_pinned_(only_pinned),
          labels_(graph, {}, progress),
          frame_of_(frames_of_arrays(frames)),
          row_of_array_(table.arrays.size(), no_row) {}

    void count_arrays();
    void count_owners();
    /// Keeps at most `limit` rows; 0: all.
    void put_in_order(std::size_t limit);
    void find_dominators(const RetainedLookup& retained);

    ArrayHolders result;

private:
    std::uint32_t row_of(ObjectId array);
    std::uint32_t new_row(std::uint32_t label, const std::string& frame_type, ObjectId example);
    void add_shown_bytes(const ArrayOwner& owner);
    void add_kept_bytes(const ArrayOwner& owner);
    void describe(ArrayHolderRow& row) const;

    const HeapGraph& graph_;
    const ArrayTable& table_;
    const bool only_pinned_;
    const HolderLabeler labels_;
    const FramesOfArrays frame_of_;
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t>
        row_of_label_;  // the string: the type of a frame, or empty
    std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> row_of_words_;
    std::vector<std::uint32_t> row_of_array_;
};

void HolderRows::count_arrays() {
    for (std::uint32_t i = 0; i < table_.arrays.size(); ++i) {
        const SeenArray& seen = table_.arrays[i];
        const bool pinned = table_.owners[seen.owner].pinned();
        if (seen.held_by_base || (only_pinned_ && !pinned)) continue;
        ++result.total_arrays;
        const std::uint32_t at = row_of(seen.object);
        row_of_array_[i] = at;
        if (at == no_row) {
            ++result.without_path;
            continue;
        }
        ArrayHolderRow& row = result.rows[at];
        ++row.arrays;
        row.nbytes += seen.nbytes;
        row.pinned_arrays += pinned;
    }
}

/// `no_row` if no root reaches the array. An array of a DataFrame has the row of its DataFrame.
std::uint32_t HolderRows::row_of(ObjectId array) {
    const auto frame = frame_of_.find(array);
    const ObjectId object = frame == frame_of_.end() ? array : frame->second->object;
    const std::string through = frame == frame_of_.end() ? std::string() : frame->second->type_name;
    const std::uint32_t label = labels_.label(object);
    if (label == HolderLabeler::none) return no_row;
    const auto [known, is_new] = row_of_label_.emplace(std::pair(label, through), no_row);
    if (is_new) known->second = new_row(label, through, object);
    return known->second;
}

/// Labels with the same words share one row.
std::uint32_t HolderRows::new_row(std::uint32_t label, const std::string& frame_type, ObjectId example) {
    const HolderName name = labels_.name(label);
    const std::string attribute = name.attribute();
    const auto next = static_cast<std::uint32_t>(result.rows.size());
    const auto [at, added] = row_of_words_.emplace(std::tuple(name.owner, attribute, frame_type), next);
    if (added) {
        ArrayHolderRow& row = result.rows.emplace_back();
        row.holder = name.owner;
        row.attribute = attribute;
        row.joined = name.joined();
        row.of_frame = name.frame && !name.steps.empty() && !name.nameless();
        if (row.of_frame && is_identifier(name.steps.front().name)) row.local = name.steps.front().name;
        row.frame_type = frame_type;
        row.example = example;
    }
    return at->second;
}

void HolderRows::count_owners() {
    for (const ArrayOwner& owner : table_.owners) {
        if (only_pinned_ && !owner.pinned()) continue;
        add_shown_bytes(owner);
        add_kept_bytes(owner);
    }
}

void HolderRows::add_shown_bytes(const ArrayOwner& owner) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> shown;  // row, array
    for (const std::uint32_t i : table_.of_owner(owner))
        if (row_of_array_[i] != no_row) shown.emplace_back(row_of_array_[i], i);
    std::sort(shown.begin(), shown.end());
    std::vector<std::uint32_t> of_row;
    for (std::size_t i = 0; i < shown.size();) {
        of_row.clear();
        const std::uint32_t at = shown[i].first;
        for (; i < shown.size() && shown[i].first == at; ++i) of_row.push_back(shown[i].second);
        result.rows[at].shown_bytes += heapsift::shown_bytes(graph_.heap(), table_, owner, of_row);
    }
}

void HolderRows::add_kept_bytes(const ArrayOwner& owner) {
    ObjectId hand = in_hand(table_, owner, &labels_.paths());
    if (hand == no_object && frame_of_.count(owner.object) > 0)
        hand = owner.object;  // of a frame that is gone
    const std::uint32_t at = hand == no_object ? no_row : row_of(hand);
    if (at == no_row) return;
    ArrayHolderRow& row = result.rows[at];
    row.kept_bytes += owner.nbytes();
    if (!owner.pinned()) return;
    ++row.pinned_owners;
    row.pinned_bytes += owner.nbytes();
    row.pinned_visible += owner.visible_bytes;
}

void HolderRows::put_in_order(std::size_t limit) {
    std::vector<std::uint32_t> order(result.rows.size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](std::uint32_t i) {
        const ArrayHolderRow& row = result.rows[i];
        return std::tuple(only_pinned_ ? ~row.unseen_bytes() : 0, ~row.kept_bytes, ~row.nbytes, row.holder,
                          row.attribute);
    };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    result.total_rows = order.size();
    if (limit != 0 && order.size() > limit) order.resize(limit);
    std::vector<ArrayHolderRow> sorted;
    std::vector<std::uint32_t> place(result.rows.size(), no_row);
    for (const std::uint32_t i : order) {
        place[i] = static_cast<std::uint32_t>(sorted.size());
        describe(sorted.emplace_back(std::move(result.rows[i])));
    }
    result.rows = std::move(sorted);
    for (std::uint32_t& row : row_of_array_)
        if (row != no_row) row = place[row];
}

void HolderRows::describe(ArrayHolderRow& row) const {
    row.expression = labels_.merged_expression(row.example);
    row.begins_at = labels_.paths().path(row.example).front();
    heapsift::describe(row, graph_);
}

void HolderRows::find_dominators(const RetainedLookup& retained) {
    std::vector<std::vector<NodeId>> members(result.rows.size());
    for (std::uint32_t i = 0; i < row_of_array_.size(); ++i)
        if (row_of_array_[i] != no_row)
            members[row_of_array_[i]].push_back(HeapGraph::node_of(table_.arrays[i].object));
    const HeapGraph& graph = retained.graph();
    CommonDominatorFinder common(retained.tree(), graph.preorder());
    for (std::size_t i = 0; i < members.size(); ++i) {
        ArrayHolderRow& row = result.rows[i];
        row.dominator = common.of(members[i]);
        if (row.dominator && graph.kind(*row.dominator) == NodeKind::block)
            row.dominator = retained.dominator(*row.dominator);
        if (row.dominator) heapsift::describe(row, graph_);
    }
}

}  // namespace

void describe(ArrayHolderRow& row, const HeapGraph& graph) {
    row.example_address = graph.columns().address_of(row.example);
    const Root& root = cheapest_root(graph, row.begins_at).root;
    row.root = root_words(graph, root);
    if (row.of_frame && root.frame >= 0) row.frame = frame_words(graph.frame({root.thread, root.frame}));
    if (row.frame.empty()) row.local.clear();
    if (!row.dominator) return;
    if (graph.kind(*row.dominator) == NodeKind::object)
        row.dominator_address = graph.columns().address_of(graph.object_of(*row.dominator));
    else
        row.dominator_words = node_words(graph, *row.dominator);
}

bool may_be_kept(const HeapGraph& graph, const ArrayHolders& holders) {
    return std::none_of(holders.rows.begin(), holders.rows.end(), [&](const ArrayHolderRow& row) {
        const RootKind kind = cheapest_root(graph, row.begins_at).root.kind;
        return kind == RootKind::thread || kind == RootKind::thread_local_ || kind == RootKind::context;
    });
}

ArrayHolders array_holders(const HeapGraph& graph, const ArrayTable& table,
                           const std::vector<PandasFrame>& frames, bool only_pinned, std::size_t limit,
                           const RetainedLookup* retained, const ProgressCallback& progress) {
    if (table.arrays.empty()) return {};
    HolderRows rows(graph, table, frames, only_pinned, progress);
    rows.count_arrays();
    rows.count_owners();
    rows.put_in_order(limit);
    if (retained) rows.find_dominators(*retained);
    return std::move(rows.result);
}

std::optional<CommonHolder> common_holder(const RetainedLookup& retained, const ArrayHolders& holders,
                                          std::size_t shown, KeptAnswers* answers) {
    const HeapGraph& graph = retained.graph();
    std::vector<std::pair<NodeId, std::size_t>> nodes;  // and the number of rows
    for (std::size_t i = 0; i < holders.rows.size() && (shown == 0 || i < shown); ++i) {
        const std::optional<NodeId> node = holders.rows[i].dominator;
        if (!node || graph.kind(*node) == NodeKind::root) continue;
        const auto at =
            std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.first == *node; });
        if (at == nodes.end())
            nodes.emplace_back(*node, 1);
        else
            ++at->second;
    }
    std::erase_if(nodes,
                  [&](const auto& n) { return n.second < 2 || graph.kind(n.first) == NodeKind::group; });
    if (nodes.empty()) return std::nullopt;
    std::stable_sort(nodes.begin(), nodes.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    return common_holder(retained, nodes.front().first, nodes.front().second, answers);
}

CommonHolder common_holder(const RetainedLookup& retained, NodeId node, std::uint64_t rows,
                           KeptAnswers* answers) {
    const HeapGraph& graph = retained.graph();
    CommonHolder common;
    common.node = node;
    common.rows = rows;
    common.words = node_words(graph, node);
    common.retained = retained.memory(node);
    if (graph.kind(node) != NodeKind::object) return common;
    const ObjectId object = HeapGraph::object_of(node);
    common.object = object_row(graph.heap(), object);
    if (auto found = ExpressionFinder(graph, {object}, {}, answers).of(object))
        common.expression = std::move(found->expression);
    return common;
}

}  // namespace heapsift
