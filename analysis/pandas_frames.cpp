// A DataFrame has no array of its own. It has a block manager (`_mgr`), with a tuple of blocks and a list of
// axes:
//
//     DataFrame._mgr   BlockManager        .axes    [columns, index]   each an Index (pandas_index.cpp)
//                                          .blocks  (Block, Block, …)  one for all columns of a dtype, once
//                                                                      consolidated
//                          Block           .values  ndarray (columns, rows): a column is one row of it;
//                                                   or an extension array: DatetimeArray, Categorical,
//                                                   IntegerArray (data and mask), …
//     Series._mgr      SingleBlockManager  .axes    [index]
//                                          .blocks  (Block,)           values of one dimension
//
// BlockManager and the blocks are Cython classes, and their Python subclasses add nothing. Every release may
// change the offsets of their fields, so fields are recognized by what they lead to: a tuple (or list) of
// blocks is `blocks`, a list of Index is `axes`. A SingleBlockManager has the same fields as attributes.
//
// Who keeps bytes alive. Slices of rows, and columns taken out, are views: the base of their block's values
// is the parent's array. In pandas 1.5 there is more: a manager has `parent`, a strong reference to the
// manager it was cut from. A slice of rows (iloc, loc, head, a group) keeps the manager of its DataFrame, and
// so all of its blocks, also those of other dtypes, even when the DataFrame itself is gone; slicing again and
// again makes a chain of them. A column has a parent only under copy-on-write. In addition `refs` is a list
// of weak references to blocks. 1.1 has neither. Since 2.0 a block has `refs`, a BlockValuesRefs with weak
// references to blocks and Index objects, and a slice keeps only the bases of its views.
//
// Anything that is read may be wrong: each walk is bounded, and so are all of them together.
//
// Sources: pandas/core/internals/{managers,blocks}.py, pandas/_libs/internals.pyx of 1.1, 1.5 and 2.2.

#include "analysis/pandas_frames.h"

#include "analysis/object_row.h"
#include "analysis/pandas_index.h"
#include "analysis/pass.h"
#include "parsers/numpy/array_layout.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

namespace heapsift {
namespace {

constexpr std::size_t longest_name = 60;

struct Manager {
    std::vector<ObjectId> blocks, axes;
    bool has_blocks = false;
    ObjectId parent = no_object;
};

class FrameReader {
public:
    FrameReader(const HeapReader& heap, std::size_t most_names)
        : heap_(heap),
          pandas_(heap),
          most_names_(most_names),
          steps_left_((std::uint64_t{1} << 20) + 64 * heap.snapshot().object_count()) {}

    std::vector<PandasFrame> all() {
        std::vector<PandasFrame> result;
        const auto of_pandas = [](const TypeInfo& type) { return type.name.starts_with("pandas."); };
        if (std::none_of(columns().types.begin(), columns().types.end(), of_pandas)) return result;
        for_each_object(heap_.snapshot(), "", {}, [&](ObjectId id) {
            const PandasKind& kind = pandas_.kind(id);
            if (kind.frame || kind.series) result.push_back(frame(id, kind.series));
        });
        return result;
    }

    PandasFrame of_manager(ObjectId manager) {
        PandasFrame frame;
        frame.object = frame.manager = manager;
        frame.type_name = type_name(columns().types, columns().type_of(manager));
        frame.series = frame.type_name.ends_with(".SingleBlockManager");
        fill(frame);
        return frame;
    }

private:
    PandasFrame frame(ObjectId object, bool series) {
        PandasFrame frame;
        frame.object = object;
        frame.series = series;
        frame.type_name = type_name(columns().types, columns().type_of(object));
        for (const NamedObject& one : pandas_.attributes(object)) {
            if (!step()) break;
            if (pandas_.kind(one.object).manager && (frame.manager == no_object || one.name == "_mgr"))
                frame.manager = one.object;
            if (series && one.name == "_name" && most_names_ > 0) name_series(frame, one.object);
        }
        if (frame.manager != no_object) fill(frame);
        return frame;
    }

    void name_series(PandasFrame& frame, ObjectId name) const {
        const PythonHeap& python = heap_.python_heap();
        const Address address = columns().address_of(name);
        if (!python.is_unicode(address)) return;
        const auto facts = python.unicode(address);
        const auto text = python.unicode_text(address, longest_name);
        if (!facts || !text) return;
        frame.column_names = {facts->length > longest_name ? *text + "…" : *text};
        frame.column_count = 1;
    }

    void fill(PandasFrame& frame) {
        Manager manager = read_manager(frame.manager);
        frame.parent = manager.parent;
        measure(frame, manager);
        if (!frame.series && manager.axes.size() == 2) name_columns(frame, manager.axes[0]);
        std::set<std::pair<Address, std::uint64_t>> shown;  // data and bytes
        std::unordered_set<ObjectId> seen;
        const auto add = [&](const std::vector<ObjectId>& arrays) {
            for (const ObjectId array : arrays) {
                if (!step()) return;
                const auto facts = facts_of(array);
                const bool new_bytes =
                    !facts || facts->nbytes == 0 || shown.emplace(facts->data, facts->nbytes).second;
                if (new_bytes && seen.insert(array).second) frame.arrays.push_back(array);
            }
        };
        for (const ObjectId block : manager.blocks) {
            const ObjectId values = values_of(block);
            if (values != no_object) add(pandas_.arrays_below(values));
        }
        frame.value_arrays = frame.arrays;
        for (const ObjectId axis : manager.axes) add(pandas_.arrays_below(axis));
        frame.blocks = std::move(manager.blocks);
    }

    Manager read_manager(ObjectId object) {
        Manager manager;
        for (const NamedObject& one : pandas_.attributes(object)) {
            if (!step()) break;
            const PandasKind& kind = pandas_.kind(one.object);
            if (kind.manager && one.object != object && manager.parent == no_object)
                manager.parent = one.object;
            if (!kind.container) continue;
            std::vector<ObjectId> blocks, axes;
            for (const ObjectId part : pandas_.parts(one.object)) {
                if (!step()) break;
                if (pandas_.kind(part).block) blocks.push_back(part);
                if (pandas_.kind(part).index) axes.push_back(part);
            }
            if (!blocks.empty() && manager.blocks.empty()) manager.blocks = std::move(blocks);
            if (!axes.empty() && axes.size() <= 2 && manager.axes.empty()) manager.axes = std::move(axes);
        }
        return manager;
    }

    /// The array or extension array of a block. The block also has the places of its columns, and since 2.0
    /// the blocks that share its values.
    ObjectId values_of(ObjectId block) {
        for (const ObjectId part : pandas_.parts(block)) {
            const PandasKind& kind = pandas_.kind(part);
            if (kind.array) return part;
            if (kind.below &&
                !type_name(columns().types, columns().type_of(part)).starts_with("pandas._libs.internals."))
                return part;
        }
        return no_object;
    }

    void measure(PandasFrame& frame, const Manager& manager) {
        std::optional<std::uint64_t> rows, columns;
        if (manager.axes.size() == (frame.series ? 1U : 2U)) {
            rows = index_length(pandas_, manager.axes.back());
            columns = frame.series ? 1 : index_length(pandas_, manager.axes[0]);
        }
        std::uint64_t block_columns = 0;
        bool same_rows = true, columns_counted = true;
        for (const ObjectId block : manager.blocks) {
            if (!step()) break;
            const ObjectId values = values_of(block);
            const auto length = values == no_object ? std::nullopt : values_length(pandas_, values);
            if (!length) continue;
            if (!rows) rows = length;
            same_rows &= *rows == *length;
            const auto wide = columns_in(values);
            columns_counted &= wide.has_value();
            block_columns += wide.value_or(0);
        }
        if (!columns && frame.series) columns = 1;
        if (!columns && columns_counted && !manager.blocks.empty()) columns = block_columns;
        frame.rows = rows.value_or(0);
        frame.columns = columns.value_or(0);
        frame.shape_known = rows && columns && same_rows;
    }

    /// Columns in the values of a block: the rows of a two-dimensional array; 1 for an extension array of one
    /// dimension.
    std::optional<std::uint64_t> columns_in(ObjectId values) {
        const std::vector<ObjectId>& arrays = pandas_.arrays_below(values);
        if (arrays.empty()) return {};
        const auto facts = facts_of(arrays.front());
        if (!facts || facts->nd < 1 || facts->nd > 2) return {};
        return facts->nd == 2 ? static_cast<std::uint64_t>(facts->shape[0]) : 1;
    }

    std::optional<ArrayFacts> facts_of(ObjectId array) const {
        return array_facts(
            ObjectReader(heap_.python_heap(), columns().address_of(array), columns().type_info(array)));
    }

    void name_columns(PandasFrame& frame, ObjectId columns) {
        const auto count = index_length(pandas_, columns);
        frame.column_count = count.value_or(0);
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(frame.column_count, most_names_) && step(); ++i)
            frame.column_names.push_back(index_label(pandas_, columns, i));
    }

    /// False once all walks together have gone further than any valid heap requires.
    bool step() { return steps_left_ > 0 && steps_left_-- > 0; }

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    PandasReader pandas_;
    std::size_t most_names_;
    std::uint64_t steps_left_;
};

}  // namespace

std::vector<PandasFrame> pandas_frames(const HeapReader& heap, std::size_t most_names) {
    return FrameReader(heap, most_names).all();
}

std::vector<DroppedFrame> dropped_frames(const HeapReader& heap, const std::vector<PandasFrame>& frames,
                                         std::size_t most_names) {
    FrameReader reader(heap, most_names);
    std::unordered_set<ObjectId> with_frame;
    for (const PandasFrame& frame : frames) with_frame.insert(frame.manager);
    std::map<ObjectId, DroppedFrame> dropped;
    std::set<std::pair<ObjectId, ObjectId>> links;  // a manager and its parent
    std::uint64_t steps_left = (std::uint64_t{1} << 20) + heap.snapshot().object_count();
    for (std::size_t i = 0; i < frames.size(); ++i) {
        ObjectId below = frames[i].manager, manager = frames[i].parent;
        for (; manager != no_object && !with_frame.contains(manager) && steps_left > 0; --steps_left) {
            const auto [at, added] = dropped.try_emplace(manager);
            if (added) at->second.frame = reader.of_manager(manager);
            links.emplace(below, manager);
            std::vector<std::size_t>& slices = at->second.slices;
            if (!slices.empty() && slices.back() == i) break;  // a ring
            slices.push_back(i);
            below = manager;
            manager = at->second.frame.parent;
        }
    }
    std::map<ObjectId, std::int64_t> kept;
    for (const auto& [below, parent] : links) ++kept[parent];
    std::vector<DroppedFrame> result;
    for (auto& [manager, one] : dropped) {
        one.kept_by_slices_alone = heap.collector_facts(manager).refcount == kept[manager];
        result.push_back(std::move(one));
    }
    return result;
}

std::vector<std::pair<ObjectId, ObjectId>> kept_parents(const std::vector<PandasFrame>& frames,
                                                        const std::vector<DroppedFrame>& dropped) {
    std::vector<ObjectId> gone;
    for (const DroppedFrame& one : dropped)
        if (one.kept_by_slices_alone) gone.push_back(one.frame.manager);
    std::sort(gone.begin(), gone.end());
    std::vector<std::pair<ObjectId, ObjectId>> pairs;
    const auto add = [&](const PandasFrame& frame) {
        if (frame.parent != no_object && std::binary_search(gone.begin(), gone.end(), frame.parent))
            pairs.emplace_back(frame.manager, frame.parent);
    };
    for (const PandasFrame& frame : frames) add(frame);
    for (const DroppedFrame& one : dropped) add(one.frame);
    return pairs;
}

void add_dropped(std::vector<PandasFrame>& frames, const std::vector<DroppedFrame>& dropped) {
    for (const DroppedFrame& one : dropped) {
        if (one.slices.empty()) continue;
        frames.push_back(one.frame);
        frames.back().object = frames[one.slices.front()].object;
        frames.back().type_name = frames[one.slices.front()].type_name + ", gone";
    }
}

}  // namespace heapsift
