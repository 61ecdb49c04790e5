// Rows of objects that are held in one way: by label, with labels of equal words merged.

#include "analysis/holders.h"

#include "analysis/holder_labels.h"
#include "analysis/object_row.h"

#include <algorithm>
#include <map>

namespace heapsift {
namespace {

class HolderFinder {
public:
    HolderFinder(const HeapGraph& graph, PathWishes wishes, const ProgressCallback& progress)
        : graph_(graph), heap_(graph.heap()), labels_(graph, std::move(wishes), progress) {}

    HoldersResult find(const std::vector<TypeId>& types, std::size_t limit,
                       const ProgressCallback& progress) {
        HoldersResult result;
        std::vector<bool> wanted(columns().types.size() + 1, types.empty());  // the last one: type not found
        for (const TypeId type : types) wanted[type] = true;
        std::map<std::pair<TypeId, std::uint32_t>, std::size_t> row_of;
        std::vector<std::int32_t> row_of_object(graph_.object_count(), -1);
        std::vector<ObjectSizes> sizes(1);
        const auto count_in = [&](ObjectId object) {
            const TypeId type = columns().type_of(object);
            if (!wanted[std::min<std::size_t>(type, columns().types.size())]) return;
            sizes[0] = ObjectSizes();
            heap_.sizes(object, sizes);
            ++result.total_count;
            result.total_size += sizes[0].size;
            result.total_memory += sizes[0].memory;
            result.total_array_data += sizes[0].array_data;
            if (!labels_.paths().found(object)) {
                ++result.without_path;
                return;
            }
            const auto [at, added] =
                row_of.emplace(std::pair(type, labels_.label(object)), result.rows.size());
            if (added) {
                result.rows.push_back({});
                result.rows.back().type = type;
                result.rows.back().example = object;
                labels_of_rows_.push_back(labels_.label(object));
            }
            HolderRow& row = result.rows[at->second];
            row_of_object[object] = static_cast<std::int32_t>(at->second);
            ++row.count;
            row.size += sizes[0].size;
            row.memory += sizes[0].memory;
            row.array_data += sizes[0].array_data;
        };
        for (const NodeId node : labels_.paths().order()) count_in(graph_.object_of(node));
        for (ObjectId object{0}; object < graph_.object_count(); ++object)
            if (!labels_.paths().found(object)) count_in(object);
        merge_same_words(result, row_of_object);
        result.total_rows = result.rows.size();
        retain(result, row_of_object, limit, progress);
        if (limit != 0 && result.rows.size() > limit) result.rows.resize(limit);
        for (HolderRow& row : result.rows) {
            row.expression = labels_.merged_expression(row.example);
            row.example_address = columns().address_of(row.example);
        }
        return result;
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
    void merge_same_words(HoldersResult& result, std::vector<std::int32_t>& row_of_object) const {
        std::map<std::tuple<TypeId, std::string, std::string>, std::size_t> by_words;
        std::vector<HolderRow> merged;
        std::vector<std::int32_t> becomes;
        for (std::size_t i = 0; i < result.rows.size(); ++i) {
            HolderRow& row = result.rows[i];
            const HolderName name = labels_.name(labels_of_rows_[i]);
            row.holder = name.owner;
            row.attribute = name.attribute();
            row.joined = name.joined();
            row.nameless = name.nameless();
            const auto [at, added] =
                by_words.emplace(std::tuple(row.type, row.holder, row.attribute), merged.size());
            becomes.push_back(static_cast<std::int32_t>(at->second));
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
        for (std::int32_t& row : row_of_object)
            if (row >= 0) row = becomes[static_cast<std::size_t>(row)];
        result.rows = std::move(merged);
    }

    void retain(HoldersResult& result, const std::vector<std::int32_t>& row_of_object, std::size_t limit,
                const ProgressCallback& progress) {
        std::vector<std::size_t> order(result.rows.size());
        for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return result.rows[a].memory > result.rows[b].memory;
        });
        constexpr std::size_t most_sets = 640;  // beyond these the rows are small
        const std::size_t asked = std::min(
            {order.size(), most_sets, limit == 0 ? most_sets : std::max<std::size_t>(64, 2 * limit)});
        std::vector<std::int32_t> set_of_row(result.rows.size(), -1);
        for (std::size_t i = 0; i < asked; ++i) set_of_row[order[i]] = static_cast<std::int32_t>(i);
        const auto found = retained_by_sets(
            graph_, asked,
            [&](ObjectId object) {
                const std::int32_t row = row_of_object[object];
                return row < 0 ? -1 : set_of_row[static_cast<std::size_t>(row)];
            },
            progress);
        for (std::size_t i = 0; i < asked; ++i) result.rows[order[i]].retained = found[i].memory;
        std::stable_sort(result.rows.begin(), result.rows.end(), [](const HolderRow& a, const HolderRow& b) {
            return std::tuple(b.retained, b.memory, a.type_name, a.holder, a.attribute) <
                   std::tuple(a.retained, a.memory, b.type_name, b.holder, b.attribute);
        });
    }

    const HeapGraph& graph_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    HolderLabeler labels_;
    std::vector<std::uint32_t> labels_of_rows_;
};

}  // namespace

std::vector<ObjectId> held_by(const HeapGraph& graph, const std::string& holder,
                              const ProgressCallback& progress) {
    return HolderFinder(graph, {}, progress).held_by(holder);
}

HoldersResult holders(const HeapGraph& graph, const std::vector<TypeId>& types, const PathWishes& wishes,
                      std::size_t limit, const ProgressCallback& progress) {
    return HolderFinder(graph, wishes, progress).find(types, limit, progress);
}

}  // namespace heapsift
