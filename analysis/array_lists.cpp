// Rows by holder: an array that a person has in hand counts where its cheapest path says that it is held. An owner counts once:
// where it is held itself, or, kept by views alone, with the first of these that the search for paths came to.
//
// The dominator of a row is the nearest common ancestor of its arrays in the dominator tree: the walk up from the first of them
// is marked, each other one walks up until it meets a mark, and the highest place where the first walk is met is the ancestor. No
// node is walked over twice.

#include "analysis/array_lists.h"

#include "analysis/holder_labels.h"
#include "analysis/object_paths.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::uint32_t none = 0xffffffff;

/// Of members of one set after another.
class CommonDominator {
public:
    explicit CommonDominator(const RetainedSizes& retained) : retained_(retained), mark_(retained.tree().reached(), 0) {}

    void begin() {
        ++set_;
        found_ = none;
    }
    void add(NodeId node) {
        const std::uint32_t at = retained_.graph().preorder().position(node);
        if (at == Preorder::none) return;
        std::uint32_t p = at;
        for (; p != none && mark_[p] < 2 * set_; p = retained_.tree().dominator(p)) mark_[p] = 2 * set_ + (found_ != none);
        if (found_ == none) {
            found_ = at;
            return;
        }
        // Below what was met the walk went beside the first one; a mark of a later walk leads to a place that was seen to
        // already.
        if (p != none && mark_[p] == 2 * set_) found_ = std::min(found_, p);
    }
    /// `members` of one set have one node above, not counted themselves where there are several.
    std::optional<NodeId> node() const {
        if (found_ == none) return std::nullopt;
        return retained_.graph().preorder().node_at(found_);
    }

private:
    const RetainedSizes& retained_;
    std::vector<std::uint32_t> mark_;  // by position: 2 * set of the first walk, one more of later ones
    std::uint32_t set_ = 0;
    std::uint32_t found_ = none;
};

using FramesOfArrays = std::unordered_map<ObjectId, const PandasFrame*>;

FramesOfArrays frames_of_arrays(const std::vector<PandasFrame>& frames) {
    FramesOfArrays found;
    for (const PandasFrame& frame : frames)
        for (const ObjectId array : frame.arrays) found.emplace(array, &frame);
    return found;
}

template <class Less>
std::vector<std::uint32_t> first_of(std::vector<std::uint32_t> places, std::size_t limit, Less less) {
    const std::size_t wanted = limit == 0 ? places.size() : std::min(limit, places.size());
    std::partial_sort(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(wanted), places.end(), less);
    places.resize(wanted);
    return places;
}

/// The array by which a person has hold of an owner: the owner itself, or the cheapest to reach of its arrays that are in hand.
ObjectId in_hand(const Arrays& arrays, const ArrayOwner& owner, const RootPaths* paths) {
    if (owner.object != no_object && !owner.kept_by_views) return owner.object;
    ObjectId best = no_object;
    for (const std::uint32_t i : arrays.of_owner(owner)) {
        const SeenArray& seen = arrays.arrays()[i];
        if (seen.held_by_base) continue;
        if (!paths) return seen.object;
        if (best == no_object || paths->cost(seen.object) < paths->cost(best)) best = seen.object;
    }
    return best;
}

}  // namespace

std::vector<std::uint32_t> list_owners(const Arrays& arrays, OwnerChoice choice, std::size_t limit) {
    const std::vector<ArrayOwner>& owners = arrays.owners();
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < owners.size(); ++i)
        if (choice == OwnerChoice::all || owners[i].pinned()) places.push_back(i);
    const auto key = [&](std::uint32_t i) {
        const std::uint64_t bytes = choice == OwnerChoice::pinned ? owners[i].unseen_bytes() : owners[i].nbytes();
        return std::pair(~bytes, owners[i].object);
    };
    return first_of(std::move(places), limit, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

std::vector<std::uint32_t> list_arrays(const Arrays& arrays, bool views, std::size_t limit) {
    const std::vector<SeenArray>& all = arrays.arrays();
    std::vector<std::uint32_t> places;
    for (std::uint32_t i = 0; i < all.size(); ++i)
        if (!all[i].is_scalar && !(views && all[i].owns_bytes)) places.push_back(i);
    const auto key = [&](std::uint32_t i) { return std::pair(~all[i].nbytes, all[i].object); };
    return first_of(std::move(places), limit, [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
}

std::vector<ArrayPlace> places_of(const Arrays& arrays, const std::vector<PandasFrame>& frames,
                                  const std::vector<std::uint32_t>& owners, const ProgressCallback& progress) {
    std::vector<ArrayPlace> places(owners.size());
    std::vector<ObjectId> objects;
    const FramesOfArrays frame_of = frames_of_arrays(frames);
    for (std::size_t i = 0; i < owners.size(); ++i) {
        places[i].example = in_hand(arrays, arrays.owners()[owners[i]], nullptr);
        if (const auto frame = frame_of.find(places[i].example); frame != frame_of.end())
            places[i].example = frame->second->object;
        if (places[i].example != no_object) objects.push_back(places[i].example);
    }
    if (objects.empty()) return places;
    const ObjectExpressions expressions(arrays.graph(), objects, progress);
    for (ArrayPlace& place : places) {
        if (place.example == no_object) continue;
        auto found = expressions.of(place.example);
        if (!found) continue;
        place.expression = std::move(found->expression);
        place.root = root_words(arrays.graph(), found->root);
    }
    return places;
}

ArrayHolders array_holders(const Arrays& arrays, const std::vector<PandasFrame>& frames, bool only_pinned, std::size_t limit,
                           const RetainedSizes* retained, const ProgressCallback& progress) {
    ArrayHolders result;
    if (arrays.arrays().empty()) return result;
    const HeapGraph& graph = arrays.graph();
    const HeapSnapshot& heap = graph.heap();
    const HolderLabels labels(graph, {}, progress);
    const FramesOfArrays frame_of = frames_of_arrays(frames);
    std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> row_of_label;
    std::map<std::tuple<std::string, std::string, std::string>, std::uint32_t> row_of_words;
    const auto row_of = [&](ObjectId array) {
        const auto frame = frame_of.find(array);
        const ObjectId object = frame == frame_of.end() ? array : frame->second->object;
        const std::string through = frame == frame_of.end() ? std::string() : frame->second->type_name;
        const std::uint32_t label = labels.label(object);
        if (label == HolderLabels::none) return none;
        const auto [known, is_new] = row_of_label.emplace(std::pair(label, through), none);
        if (is_new) {
            const auto [holder, attribute] = labels.words(label);
            const auto [at, added] =
                row_of_words.emplace(std::tuple(holder, attribute, through), static_cast<std::uint32_t>(result.rows.size()));
            if (added) {
                result.rows.emplace_back();
                result.rows.back().holder = holder;
                result.rows.back().attribute = attribute;
                result.rows.back().frame_type = through;
                result.rows.back().example = object;
            }
            known->second = at->second;
        }
        return known->second;
    };
    std::vector<std::uint32_t> row_of_array(arrays.arrays().size(), none);
    for (std::uint32_t i = 0; i < arrays.arrays().size(); ++i) {
        const SeenArray& seen = arrays.arrays()[i];
        const bool pinned = arrays.owners()[seen.owner].pinned();
        if (seen.held_by_base || (only_pinned && !pinned)) continue;
        ++result.total_arrays;
        const std::uint32_t at = row_of(seen.object);
        row_of_array[i] = at;
        if (at == none) {
            ++result.without_path;
            continue;
        }
        ArrayHolderRow& row = result.rows[at];
        ++row.arrays;
        row.nbytes += seen.nbytes;
        row.pinned_arrays += pinned;
    }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> shown;  // of one owner: row, array
    std::vector<std::uint32_t> of_row;
    for (const ArrayOwner& owner : arrays.owners()) {
        if (only_pinned && !owner.pinned()) continue;
        shown.clear();
        for (const std::uint32_t i : arrays.of_owner(owner))
            if (row_of_array[i] != none) shown.emplace_back(row_of_array[i], i);
        std::sort(shown.begin(), shown.end());
        for (std::size_t i = 0; i < shown.size();) {
            of_row.clear();
            const std::uint32_t at = shown[i].first;
            for (; i < shown.size() && shown[i].first == at; ++i) of_row.push_back(shown[i].second);
            result.rows[at].shown_bytes += arrays.shown_bytes(owner, of_row);
        }
        ObjectId hand = in_hand(arrays, owner, &labels.paths());
        if (hand == no_object && frame_of.count(owner.object) > 0) hand = owner.object;  // of a frame that is gone
        const std::uint32_t at = hand == no_object ? none : row_of(hand);
        if (at == none) continue;
        ArrayHolderRow& row = result.rows[at];
        row.kept_bytes += owner.nbytes();
        if (!owner.pinned()) continue;
        ++row.pinned_owners;
        row.pinned_bytes += owner.nbytes();
        row.pinned_visible += owner.visible_bytes;
    }
    std::vector<std::uint32_t> order(result.rows.size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](std::uint32_t i) {
        const ArrayHolderRow& row = result.rows[i];
        return std::tuple(only_pinned ? ~row.unseen_bytes() : 0, ~row.kept_bytes, ~row.nbytes, row.holder, row.attribute);
    };
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
    result.total_rows = order.size();
    if (limit != 0 && order.size() > limit) order.resize(limit);
    std::vector<ArrayHolderRow> sorted;
    std::vector<std::uint32_t> place(result.rows.size(), none);
    for (const std::uint32_t i : order) {
        place[i] = static_cast<std::uint32_t>(sorted.size());
        ArrayHolderRow& row = sorted.emplace_back(std::move(result.rows[i]));
        row.example_address = heap.address_of(row.example);
        row.expression = labels.merged_expression(row.example);
        const Root& root = labels.paths().root(labels.paths().path(row.example).front()).root;
        row.root = root_words(graph, root);
        if (root.frame < 0 || !row.holder.ends_with("()") || row.attribute.empty() || row.attribute.starts_with("<")) continue;
        row.frame = frame_words(graph.frame({root.thread, root.frame}));
        row.local = row.attribute.substr(0, row.attribute.find_first_of("[. "));
    }
    result.rows = std::move(sorted);
    if (!retained) return result;
    std::vector<std::vector<ObjectId>> members(result.rows.size());
    for (std::uint32_t i = 0; i < row_of_array.size(); ++i)
        if (row_of_array[i] != none && place[row_of_array[i]] != none)
            members[place[row_of_array[i]]].push_back(arrays.arrays()[i].object);
    CommonDominator common(*retained);
    for (std::size_t i = 0; i < members.size(); ++i) {
        common.begin();
        for (const ObjectId member : members[i]) common.add(member);
        result.rows[i].dominator = members[i].size() == 1 ? retained->dominator(members[i][0]) : common.node();
    }
    return result;
}

std::uint64_t kept_by_frame(const Arrays& arrays, const PandasFrame& frame) {
    std::vector<const ArrayOwner*> owners;
    for (const ObjectId array : frame.arrays)
        if (const ArrayOwner* owner = arrays.owner_of(array)) owners.push_back(owner);
    std::sort(owners.begin(), owners.end());
    owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
    std::uint64_t bytes = 0;
    for (const ArrayOwner* owner : owners) bytes += owner->nbytes();
    return bytes;
}

}  // namespace heapsift
