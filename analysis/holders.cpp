// Rows of objects that are held in one way: by label, with labels of equal words merged.

#include "analysis/holders.h"

#include "analysis/holder_labels.h"
#include "analysis/object_row.h"
#include "analysis/other_holders.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heapsift {
namespace {

/// The row in which each object counts: found by its label and its type, and not kept for each of ten million.
class RowsOfObjects {
public:
    static constexpr std::uint32_t none = HolderLabeler::none;

    /// Of labels that there are now. `wanted`: by type; the last one is for objects whose type was not found.
    RowsOfObjects(const HolderLabeler& labels, const HeapSnapshot& columns, const std::vector<bool>& wanted)
        : labels_(labels), columns_(columns), wanted_(wanted), rows_(labels.count()) {}

    bool is_wanted(TypeId type) const { return wanted_[std::min<std::size_t>(type, wanted_.size() - 1)]; }
    /// `none` if it has no path, or is in no row that there is.
    std::uint32_t operator[](ObjectId object) const {
        const std::uint32_t label = labels_.label(object);
        return label == HolderLabeler::none ? none : row(label, columns_.type_of(object));
    }
    std::uint32_t row(std::uint32_t label, TypeId type) const {
        for (const auto& [of_type, row] : rows_[label])
            if (of_type == type) return row;
        return none;
    }
    void add(std::uint32_t label, TypeId type, std::size_t row) {
        rows_[label].emplace_back(type, static_cast<std::uint32_t>(row));
    }
    /// Rows are numbered anew: `becomes[row]`.
    void renumber(const std::vector<std::uint32_t>& becomes) {
        for (auto& rows : rows_)
            for (auto& [type, row] : rows)
                if (row != none) row = becomes[row];
    }

private:
    const HolderLabeler& labels_;
    const HeapSnapshot& columns_;
    const std::vector<bool>& wanted_;
    // By label; nearly all that has one label is of one type.
    std::vector<std::vector<std::pair<TypeId, std::uint32_t>>> rows_;
};

class HolderFinder {
public:
    HolderFinder(const HeapGraph& graph, PathWishes wishes, const ProgressCallback& progress)
        : graph_(graph), heap_(graph.heap()), labels_(graph, std::move(wishes), progress) {
        labels_.give_up_costs();
    }

    HoldersResult find(const std::vector<TypeId>& types, std::size_t limit, const ProgressCallback& progress,
                       const RetainedSizes* retained) {
        HoldersResult result;
        std::vector<bool> wanted(columns().types.size() + 1, types.empty());  // the last one: type not found
        for (const TypeId type : types) wanted[type] = true;
        RowsOfObjects row_of_object(labels_, columns(), wanted);
        std::vector<ObjectSizes> sizes(1);
        const SizeColumn* const column = columns().sizes.there() ? &*columns().sizes : nullptr;
        const auto count_in = [&](ObjectId object) {
            const TypeId type = columns().type_of(object);
            if (!row_of_object.is_wanted(type)) return;
            sizes[0] = ObjectSizes();
            if (column)
                sizes[0] = (*column)[object];
            else
                heap_.sizes(object, sizes);
            ++result.total_count;
            result.total_size += sizes[0].size;
            result.total_memory += sizes[0].memory;
            result.total_array_data += sizes[0].array_data;
            const std::uint32_t label = labels_.label(object);
            if (label == HolderLabeler::none) {
                ++result.without_path;
                return;
            }
            std::uint32_t at = row_of_object.row(label, type);
            if (at == RowsOfObjects::none) {
                at = static_cast<std::uint32_t>(result.rows.size());
                row_of_object.add(label, type, at);
                result.rows.push_back({});
                result.rows.back().type = type;
                result.rows.back().example = object;
                labels_of_rows_.push_back(label);
            }
            HolderRow& row = result.rows[at];
            ++row.count;
            row.size += sizes[0].size;
            row.memory += sizes[0].memory;
            row.array_data += sizes[0].array_data;
        };
        for (const NodeId node : labels_.paths().order()) count_in(graph_.object_of(node));
        for (ObjectId object{0}; object < graph_.object_count(); ++object)
            if (labels_.label(object) == HolderLabeler::none) count_in(object);
        merge_same_words(result, row_of_object);
        result.total_rows = result.rows.size();
        retain(result, row_of_object, weights(result, row_of_object, retained), limit, progress);
        if (retained) find_others(result, row_of_object, *retained, progress);
        for (HolderRow& row : result.rows) {
            row.expression = labels_.merged_expression(row.example);
            row.example_address = columns().address_of(row.example);
        }
        return result;
    }

    /// Whether a row is named after a root that has its name from the program: a thread.
    bool names_threads(const HoldersResult& result) const {
        return others_name_threads_ ||
               std::any_of(result.rows.begin(), result.rows.end(), [&](const HolderRow& row) {
                   const RootKind kind =
                       cheapest_root(graph_, labels_.paths().path(row.example).front()).root.kind;
                   return heapsift::names_thread(kind);
               });
    }

    std::vector<ObjectId> held_by(const std::string& holder) const {
        std::vector<char> fits(labels_.count());
        for (std::uint32_t label = 0; label < labels_.count(); ++label) {
            const HolderName name = labels_.name(label);
            fits[label] = holder == name.owner + (name.joined() ? "" : ".") + name.attribute();
        }
        std::vector<ObjectId> result;
        for (ObjectId object{0}; object < graph_.object_count(); ++object)
            if (labels_.label(object) != HolderLabeler::none && fits[labels_.label(object)])
                result.push_back(object);
        return result;
    }

private:
    /// Equal names may have several numbers: labels compare names by address, not by text.
    void merge_same_words(HoldersResult& result, RowsOfObjects& row_of_object) const {
        std::map<std::tuple<TypeId, std::string, std::string>, std::size_t> by_words;
        std::vector<HolderRow> merged;
        std::vector<std::uint32_t> becomes;
        for (std::size_t i = 0; i < result.rows.size(); ++i) {
            HolderRow& row = result.rows[i];
            const HolderName name = labels_.name(labels_of_rows_[i]);
            row.holder = name.owner;
            row.attribute = name.attribute();
            row.joined = name.joined();
            row.nameless = name.nameless();
            const auto [at, added] =
                by_words.emplace(std::tuple(row.type, row.holder, row.attribute), merged.size());
            becomes.push_back(static_cast<std::uint32_t>(at->second));
            if (added) {
                row.type_name = type_name(columns().types, row.type);
                merged.push_back(std::move(row));
                continue;
            }
            HolderRow& into = merged[at->second];
            into.count += row.count;
            into.size += row.size;
            into.memory += row.memory;
            into.array_data += row.array_data;
        }
        row_of_object.renumber(becomes);
        result.rows = std::move(merged);
    }

    /// A module's or a class's own dict: that it keeps the variables tells nobody anything.
    bool is_plumbing(ObjectId object) const {
        return graph_.is_structural(object) || labels_.class_with_dict(object) != no_type;
    }

    /// By row: about what it retains, if what single objects retain is known; else its memory. (Objects of a
    /// row may hold each other: then it is too much.)
    std::vector<std::uint64_t> weights(const HoldersResult& result, const RowsOfObjects& row_of_object,
                                       const RetainedSizes* sizes) const {
        std::vector<std::uint64_t> weights;
        for (const HolderRow& row : result.rows) weights.push_back(row.memory);
        if (!sizes) return weights;
        const RetainedLookup retained(graph_, *sizes);
        const std::uint64_t all = retained.memory(graph_.root());
        for (ObjectId object{0}; object < graph_.object_count(); ++object) {
            const std::uint32_t row = row_of_object[object];
            if (row == RowsOfObjects::none || is_plumbing(object)) continue;
            std::uint64_t& weight = weights[row];
            weight += std::min(retained.memory(object), all - std::min(all, weight));
        }
        return weights;
    }

    /// Sorts the rows, and cuts them to the limit.
    void retain(HoldersResult& result, RowsOfObjects& row_of_object,
                const std::vector<std::uint64_t>& weights, std::size_t limit,
                const ProgressCallback& progress) {
        std::vector<std::size_t> order(result.rows.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
        constexpr std::size_t most_sets = 640;  // beyond these the rows are small
        const std::size_t most =
            limit == 0 ? most_sets : std::min(most_sets, std::max<std::size_t>(64, 2 * limit));
        constexpr std::size_t most_plumbing = 64;
        std::vector<bool> plumbing;
        for (const HolderRow& row : result.rows) plumbing.push_back(is_plumbing(row.example));
        std::vector<std::size_t> asked;
        std::vector<std::int32_t> set_of_row(result.rows.size(), -1);
        const auto ask = [&](bool of_plumbing, std::size_t count) {
            for (std::size_t i = 0; i < order.size() && count > 0; ++i) {
                if (plumbing[order[i]] != of_plumbing) continue;
                set_of_row[order[i]] = static_cast<std::int32_t>(asked.size());
                asked.push_back(order[i]);
                --count;
            }
        };
        ask(false, most);
        if (limit == 0) ask(true, most_plumbing);
        const auto found = retained_by_sets(
            graph_, asked.size(),
            [&](ObjectId object) {
                const std::uint32_t row = row_of_object[object];
                return row == RowsOfObjects::none ? -1 : set_of_row[row];
            },
            progress);
        for (std::size_t i = 0; i < asked.size(); ++i) {
            result.rows[asked[i]].retained = found[i].memory;
            result.rows[asked[i]].native = found[i].native;
        }
        std::stable_sort(order.begin(), order.end(), [&](std::size_t left, std::size_t right) {
            const HolderRow &a = result.rows[left], &b = result.rows[right];
            if (plumbing[left] != plumbing[right]) return bool(plumbing[right]);
            return std::tie(b.retained, b.memory, a.type_name, a.holder, a.attribute) <
                   std::tie(a.retained, a.memory, b.type_name, b.holder, b.attribute);
        });
        if (limit != 0 && order.size() > limit) order.resize(limit);
        std::vector<HolderRow> sorted;
        std::vector<std::uint32_t> becomes(result.rows.size(), RowsOfObjects::none);
        for (const std::size_t row : order) {
            becomes[row] = static_cast<std::uint32_t>(sorted.size());
            sorted.push_back(std::move(result.rows[row]));
        }
        result.rows = std::move(sorted);
        row_of_object.renumber(becomes);
    }

    void find_others(HoldersResult& result, const RowsOfObjects& row_of_object, const RetainedSizes& retained,
                     const ProgressCallback& progress) {
        std::vector<bool> wanted(graph_.object_count());
        for (ObjectId object{0}; object < graph_.object_count(); ++object)
            wanted[object] = row_of_object[object] != RowsOfObjects::none;
        const OtherHolders others(graph_, retained, labels_, wanted, progress);
        std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> counts;  // by row and set
        for (ObjectId object{0}; object < graph_.object_count(); ++object)
            if (const std::uint32_t row = row_of_object[object];
                row != RowsOfObjects::none && others.set_of(object) != 0)
                ++counts[{row, others.set_of(object)}];
        std::map<std::uint32_t, OtherHolder> names;  // by label
        auto at = counts.begin();
        for (std::size_t row = 0; row < result.rows.size(); ++row) {
            std::map<std::pair<std::string, std::string>, OtherHolder> by_words;
            for (; at != counts.end() && at->first.first == row; ++at)
                count_others(result.rows[row], others.set(at->first.second), at->second, names, by_words);
            finish_others(result.rows[row], by_words);
        }
    }

    using OthersByWords = std::map<std::pair<std::string, std::string>, OtherHolder>;

    /// `count` objects of `row` have these other holders. Those of the row's own words are the row's holder too.
    void count_others(HolderRow& row, const OtherHolders::Set& set, std::uint64_t count,
                      std::map<std::uint32_t, OtherHolder>& names, OthersByWords& by_words) {
        std::map<std::pair<std::string, std::string>, const OtherHolder*> different;
        for (const std::uint32_t label : set.labels) {
            const auto [name, added] = names.try_emplace(label);
            if (added) {
                const HolderName words = labels_.name(label);
                name->second = {words.owner, words.attribute(), words.joined(), words.nameless(), 0};
                others_name_threads_ = others_name_threads_ || labels_.names_thread(label);
            }
            const OtherHolder& other = name->second;
            if (other.holder != row.holder || other.attribute != row.attribute)
                different.emplace(std::pair(other.holder, other.attribute), &other);
        }
        for (const auto& [words, other] : different)
            by_words.try_emplace(words, *other).first->second.count += count;
        if (!different.empty() || set.more) row.also_held += count;
        row.and_others = row.and_others || set.more;
    }

    static void finish_others(HolderRow& row, OthersByWords& by_words) {
        constexpr std::size_t most_others = 8;
        constexpr std::uint64_t share_that_matters = 20;  // one in so many
        for (auto& [words, other] : by_words) row.also_held_by.push_back(std::move(other));
        std::stable_sort(row.also_held_by.begin(), row.also_held_by.end(),
                         [](const OtherHolder& a, const OtherHolder& b) { return a.count > b.count; });
        if (row.also_held_by.size() > most_others) {
            row.also_held_by.resize(most_others);
            row.and_others = true;
        }
        row.is_shared = row.also_held > 0 && row.also_held * share_that_matters >= row.count;
    }

    const HeapGraph& graph_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    HolderLabeler labels_;
    std::vector<std::uint32_t> labels_of_rows_;
    bool others_name_threads_ = false;
};

/// As they are kept, with the names of owners and attributes; none of a thread's (names_threads).
struct KeptHolderRows {
    HoldersResult result;
    bool keepable = true;

    std::size_t rows() const { return keepable ? result.rows.size() : KeptAnswers::most_rows + 1; }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph& graph) {
        auto& result = self.result;
        const HeapSnapshot& columns = graph.heap().snapshot();
        part.list(result.rows, [&](auto& row, Part& p) {
            kept_type(row.type, p, graph.heap());
            for (auto* text : {&row.holder, &row.attribute, &row.expression}) p.text(*text);
            for (auto* flag : {&row.joined, &row.nameless}) p.number(*flag);
            kept_object(row.example, p, graph.heap());
            for (auto* number : {&row.count, &row.size, &row.memory, &row.array_data}) p.number(*number);
            bool computed = row.retained.has_value();
            std::uint64_t retained = row.retained.value_or(0), native = row.native.value_or(0);
            p.number(computed);
            p.number(retained);
            p.number(native);
            p.number(row.also_held);
            for (auto* flag : {&row.and_others, &row.is_shared}) p.number(*flag);
            p.list(row.also_held_by, [](auto& other, Part& o) {
                for (auto* text : {&other.holder, &other.attribute}) o.text(*text);
                for (auto* flag : {&other.joined, &other.nameless}) o.number(*flag);
                o.number(other.count);
            });
            if constexpr (Part::reading) {
                if (computed) row.retained = retained;
                if (computed) row.native = native;
                row.type_name = type_name(columns.types, row.type);
                row.example_address = columns.address_of(row.example);
            }
        });
        for (auto* number : {&result.total_rows, &result.total_count, &result.total_size,
                             &result.total_memory, &result.total_array_data, &result.without_path})
            part.number(*number);
    }
};

}  // namespace

std::vector<ObjectId> held_by(const HeapGraph& graph, const std::string& holder,
                              const ProgressCallback& progress) {
    return HolderFinder(graph, {}, progress).held_by(holder);
}

HoldersResult holders(const HeapGraph& graph, const std::vector<TypeId>& types, const PathWishes& wishes,
                      std::size_t limit, const ProgressCallback& progress, KeptAnswers* answers,
                      const RetainedSizes* sizes) {
    auto question = KeptQuestion("heldby").with_all(types).with_all(wishes.without).with(limit);
    question.with(wishes.without_frames).with(wishes.without_tracebacks).with(sizes != nullptr);
    return kept_answer(answers, question, graph,
                       [&] {
                           HolderFinder finder(graph, wishes, progress);
                           KeptHolderRows kept{finder.find(types, limit, progress, sizes)};
                           kept.keepable = !finder.names_threads(kept.result);
                           return kept;
                       })
        .result;
}

}  // namespace heapsift
