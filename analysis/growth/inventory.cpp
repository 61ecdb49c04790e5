#include "analysis/growth/inventory.h"

#include "analysis/array_row.h"
#include "analysis/holder_labels.h"
#include "analysis/lines.h"
#include "analysis/memory.h"
#include "analysis/native.h"
#include "analysis/object_row.h"
#include "analysis/retained_types.h"
#include "analysis/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::size_t most_above = 1 << 17;
constexpr std::size_t most_containers_in_containers = 16;
constexpr std::size_t retained_types = 100;
constexpr std::size_t most_rows_apart = 1
                                        << 17;  // then rows are no longer told apart by what they are within
constexpr std::uint8_t deepest = 16;            // rows within rows

HeldRow::Kind kind_of(RootKind root) {
    switch (root) {
        case RootKind::native:
            return HeldRow::Kind::native;
        case RootKind::native_unseen:
            return HeldRow::Kind::unseen;
        default:
            return HeldRow::Kind::root;
    }
}

/// A local refers to what the program keeps elsewhere as long as the call runs: by that name it would be new.
PathWishes calls_last() {
    PathWishes wishes;
    wishes.calls_last = true;
    return wishes;
}

/// Rows by number while objects are counted: first by type and label, which may say the same; then by words.
class HeldRows {
public:
    HeldRows(Work& work, const EarlierObjects* before)
        : work_(work),
          graph_(work.graph()),
          columns_(graph_.columns()),
          before_(before),
          labels_(graph_, calls_last(), work.progress()),
          row_of_(graph_.object_count()),
          above_(graph_.object_count()) {}

    void find(Inventory& into) {
        if (work_.progress()) work_.progress()("what each is held by", 0);
        for (const NodeId node : labels_.paths().order()) place(graph_.object_of(node));
        place_garbage();
        count_all(into);
        add_native();
        name_rows();
        into.held = std::move(rows_);
    }

private:
    struct Pair {
        std::uint32_t row, above;
        bool operator==(const Pair&) const = default;
    };
    struct Sum {
        std::uint64_t count = 0, memory = 0;
    };
    struct PairHash {
        std::size_t operator()(const Pair& p) const {
            return (std::uint64_t{p.row} << 32 | p.above) * 0x9e3779b97f4a7c15 >> 7;
        }
    };

    struct Key {
        TypeId type;
        std::uint32_t label, within;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& key) const {
            const std::uint64_t mixed = (std::uint64_t{key.type} << 32 | key.label) * 0x9e3779b97f4a7c15 ^
                                        key.within * 0xc2b2ae3d27d4eb4f;
            return static_cast<std::size_t>(mixed ^ mixed >> 31);
        }
    };

    std::uint32_t numbered(TypeId type, std::uint32_t label, std::uint32_t within, ObjectId example) {
        const auto [at, added] =
            numbers_.try_emplace(Key{type, label, within}, static_cast<std::uint32_t>(rows_.size()));
        if (added) {
            rows_.emplace_back().within = within;
            depths_.push_back(within == HeldRow::none ? 0 : static_cast<std::uint8_t>(depths_[within] + 1));
            labels_of_.push_back(label);
            types_of_.push_back(type);
            examples_.push_back(example);
        }
        return at->second;
    }

    /// Each object comes after the one before it on its path.
    void place(ObjectId object) {
        const ObjectId previous = labels_.paths().previous(object);
        std::uint32_t above = NarrowNumbers::none;
        if (previous != no_object) above = labels_.passes_on(previous) ? above_[previous] : row_of_[previous];
        const TypeId type = columns_.type_of(object);
        row_of_.set(object, numbered(type, labels_.label(object), within(type, above), object));
        if (above != NarrowNumbers::none) above_.set(object, above);
    }

    /// Of an object of that type whose owners are in the row `above`.
    std::uint32_t within(TypeId type, std::uint32_t above) const {
        if (above == NarrowNumbers::none || types_of_[above] == no_type ||
            !columns_.types[types_of_[above]].python_class || rows_.size() >= most_rows_apart)
            return HeldRow::none;
        std::uint32_t first = HeldRow::none;
        for (std::uint32_t row = above; row != HeldRow::none; row = rows_[row].within)
            if (types_of_[row] == type) first = row;
        if (first != HeldRow::none) return first;
        return depths_[above] < deepest ? above : rows_[above].within;
    }

    /// What no root reaches is held by what dominates it, if anything does.
    void place_garbage() {
        bool any = false;
        for (ObjectId object{0}; object < graph_.object_count(); ++object) {
            if (row_of_[object] != NarrowNumbers::none) continue;
            row_of_.set(object,
                        numbered(columns_.type_of(object), HolderLabeler::none, HeldRow::none, object));
            any = true;
        }
        if (!any) return;
        own_containers();
        const RetainedLookup retained(graph_, work_.retained());
        for (ObjectId object{0}; object < graph_.object_count(); ++object) {
            if (!in_garbage(object)) continue;
            const std::uint32_t above = owner_in_garbage(retained, object);
            if (above != NarrowNumbers::none) above_.set(object, above);
        }
    }

    bool in_garbage(ObjectId object) const { return labels_of_[row_of_[object]] == HolderLabeler::none; }
    bool holds_plainly(ObjectId object) const {
        const TypeId type = columns_.type_of(object);
        return type != no_type && is_plain_container(columns_.types[type].known);
    }

    /// In a cycle nothing dominates the dict of an instance: it is the instance's all the same.
    void own_containers() {
        for (ObjectId object{0}; object < graph_.object_count(); ++object) {
            if (!in_garbage(object) || holds_plainly(object)) continue;
            for (const ObjectId target : graph_.targets(object))
                if (in_garbage(target) && holds_plainly(target)) owner_of_container_.emplace(target, object);
        }
    }

    /// The row of the nearest dominator that is no plain container.
    std::uint32_t owner_in_garbage(const RetainedLookup& retained, ObjectId object) const {
        ObjectId at = object;
        for (std::size_t level = 0; level < most_containers_in_containers; ++level) {
            const NodeId node = retained.dominator(at);
            if (node != no_node && graph_.kind(node) == NodeKind::object) {
                at = HeapGraph::object_of(node);
            } else {
                const auto owner = owner_of_container_.find(at);
                if (at == object || owner == owner_of_container_.end()) return NarrowNumbers::none;
                at = owner->second;
            }
            if (!holds_plainly(at)) return row_of_[at];
        }
        return NarrowNumbers::none;
    }

    void count_all(Inventory& into) {
        const bool compares = before_ && !before_->cores.empty();
        ObjectHistory history;
        std::vector<std::uint32_t> marks;
        if (compares)
            for (const TypeInfo& type : columns_.types) marks.push_back(type_mark(type));
        for (ObjectId object{0}; object < graph_.object_count(); ++object) {
            HeldRow& row = rows_[row_of_[object]];
            const ObjectSizes sizes = (*columns_.sizes)[object];
            row.now += {1, sizes.size, sizes.memory, sizes.array_data, 0};
            if (const std::uint32_t above = above_[object]; above != NarrowNumbers::none) {
                Sum& sum = pairs_[{row_of_[object], above}];
                ++sum.count;
                sum.memory += sizes.memory;
            }
            if (!compares) continue;
            const TypeId type = columns_.type_of(object);
            compare(history, object_mark(work_.heap(), object, type == no_type ? 0 : marks[type]),
                    sizes.memory, row, into);
        }
    }

    void compare(ObjectHistory& history, const ObjectMark& mark, std::uint64_t memory, HeldRow& row,
                 Inventory& into) const {
        const std::size_t last = before_->cores.size() - 1;
        const bool in_last = history.was_in(*before_, last, mark);
        const bool in_first = last > 0 && history.was_in(*before_, 0, mark);
        ++(in_last ? into.kept : into.appeared);
        if (!in_last) {
            ++row.appeared;
            row.appeared_bytes += memory;
        } else if (last > 0 && !in_first) {
            ++row.stayed;
            row.stayed_bytes += memory;
        }
    }

    /// Blocks count with the object that alone owns them.
    void add_native() {
        const NativeGraph* native = graph_.native();
        if (!native) return;
        const RetainedLookup retained(graph_, work_.retained());
        for (BlockId block{0}; block < native->size(); ++block) {
            const NodeId node = graph_.node_of(block);
            if (graph_.preorder().position(node) == Preorder::none) continue;
            const NodeId owner = retained.dominator(node);
            if (owner == no_node || graph_.kind(owner) != NodeKind::object) continue;
            rows_[row_of_[graph_.object_of(owner)]].now.native += native->bytes(block);
        }
    }

    /// Of whatever thread; that of a threading.local by what this is called.
    std::string thread_data_words(const Root& root) const {
        std::string words = "thread-local data";
        if (root.of == no_object || labels_.label(root.of) == HolderLabeler::none) return words;
        const HolderName local = labels_.name(labels_.label(root.of));
        return words + " of " + local.owner + (local.joined() ? "" : ".") + local.attribute();
    }

    void name(std::size_t i) {
        HeldRow& row = rows_[i];
        row.type = type_name(columns_.types, types_of_[i]);
        if (types_of_[i] != no_type) {
            row.container = is_plain_container(columns_.types[types_of_[i]].known);
            row.python_class = columns_.types[types_of_[i]].python_class;
        }
        row.example = columns_.address_of(examples_[i]);
        if (labels_of_[i] == HolderLabeler::none) {
            row.kind = HeldRow::Kind::garbage;
            return;
        }
        const HolderName name = labels_.name(labels_of_[i]);
        const HeapGraph::PlacedRoot* root = labels_.root(labels_of_[i]);
        row.kind = root ? kind_of(root->root.kind) : HeldRow::Kind::object;
        row.holder = root && names_thread(root->root.kind) ? thread_data_words(root->root) : name.owner;
        row.attribute = name.attribute();
        row.joined = name.joined();
        row.nameless = name.nameless();
        row.steps = static_cast<std::uint32_t>(name.steps.size());
        if (name.steps.empty()) return;
        const HolderName first{.owner = name.owner, .frame = name.frame, .steps = {name.steps.front()}};
        if (!first.joined() && !first.nameless())
            row.place = first.attribute();  // else it is the holder itself
    }

    /// Equal words may have several numbers; and threads are not told apart.
    void name_rows() {
        std::map<std::tuple<std::string, std::string, std::string, HeldRow::Kind, std::uint32_t>,
                 std::uint32_t>
            by_words;
        std::vector<std::uint32_t> becomes;
        std::vector<HeldRow> merged;
        std::vector<ObjectId> examples;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            name(i);
            HeldRow& row = rows_[i];
            if (row.within != HeldRow::none) row.within = becomes[row.within];
            const auto [at, added] =
                by_words.try_emplace(std::tuple(row.type, row.holder, row.attribute, row.kind, row.within),
                                     static_cast<std::uint32_t>(merged.size()));
            becomes.push_back(at->second);
            if (added) {
                merged.push_back(std::move(row));
                examples.push_back(examples_[i]);
                continue;
            }
            HeldRow& into = merged[at->second];
            into.now += row.now;
            into.appeared += row.appeared;
            into.appeared_bytes += row.appeared_bytes;
            into.stayed += row.stayed;
            into.stayed_bytes += row.stayed_bytes;
        }
        for (std::size_t i = 0; i < merged.size(); ++i)
            if (merged[i].kind != HeldRow::Kind::garbage)
                merged[i].expression = labels_.merged_expression(examples[i]);
        add_pairs(becomes, merged);
        rows_ = std::move(merged);
    }

    void add_pairs(const std::vector<std::uint32_t>& becomes, std::vector<HeldRow>& merged) const {
        std::map<std::pair<std::uint32_t, std::uint32_t>, Sum> sums;
        for (const auto& [pair, more] : pairs_) {
            Sum& sum = sums[{becomes[pair.row], becomes[pair.above]}];
            sum.count += more.count;
            sum.memory += more.memory;
        }
        for (const auto& [pair, sum] : sums)
            merged[pair.first].above.push_back({pair.second, sum.count, sum.memory});
        for (HeldRow& row : merged) {
            std::stable_sort(
                row.above.begin(), row.above.end(),
                [](const HeldRow::Above& a, const HeldRow::Above& b) { return a.count > b.count; });
            if (row.above.size() > most_above) row.above.resize(most_above);
        }
    }

    Work& work_;
    const HeapGraph& graph_;
    const HeapSnapshot& columns_;
    const EarlierObjects* before_;
    HolderLabeler labels_;
    NarrowNumbers row_of_, above_;  // by object
    std::unordered_map<Key, std::uint32_t, KeyHash> numbers_;
    std::unordered_map<Pair, Sum, PairHash> pairs_;
    std::unordered_map<std::uint32_t, ObjectId> owner_of_container_;
    std::vector<HeldRow> rows_;
    std::vector<std::uint32_t> labels_of_;  // by row
    std::vector<std::uint8_t> depths_;      // by row
    std::vector<TypeId> types_of_;
    std::vector<ObjectId> examples_;
};

std::vector<NamedAmounts> summed(std::map<std::string, Amounts> by_name) {
    std::vector<NamedAmounts> rows;
    for (auto& [name, now] : by_name) rows.push_back({name, now, {}, 0});
    return rows;
}

/// Classes of the same name retain apart from each other: that sum is left out.
std::vector<NamedAmounts> types_of(Work& work, const std::vector<HeldRow>& held) {
    std::map<std::string, Amounts> by_name;
    for (const HeldRow& row : held) by_name[row.type] += row.now;
    TypesResult found = types(work.heap(), SortKey::retained, 0, work.progress());
    add_retained(found, work.graph(), work.retained(), SortKey::retained, retained_types, work.progress());
    std::map<std::string, std::optional<std::uint64_t>> retained;
    for (const TypeRow& row : found.types) {
        const auto [at, added] = retained.try_emplace(row.name, row.retained);
        if (!added) at->second.reset();
    }
    std::vector<NamedAmounts> rows = summed(std::move(by_name));
    for (NamedAmounts& row : rows)
        if (const auto at = retained.find(row.name); at != retained.end()) row.retained = at->second;
    return rows;
}

/// "float64 (*, 32, 3)": arrays of one sort, whatever their number of rows.
std::string sort_of(const ArrayRow& array) {
    std::string text = array.dtype.value_or("?") + " (";
    for (std::size_t i = 0; array.shape && i < array.shape->size(); ++i)
        text += i == 0 ? "*" : fmt::format(", {}", (*array.shape)[i]);
    return text + ")";
}

std::vector<NamedAmounts> arrays_of(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    std::map<std::string, Amounts> by_sort;
    for (ObjectId object{0}; object < columns.object_count(); ++object) {
        if (!is_array(columns, object)) continue;
        const ArrayRow array = array_row(heap, object);
        if (!array.owns_data.value_or(false)) continue;
        const ObjectSizes sizes = (*columns.sizes)[object];
        by_sort[sort_of(array)] += {1, sizes.size, sizes.memory, array.nbytes.value_or(0), 0};
    }
    return summed(std::move(by_sort));
}

std::vector<NativeAmounts> native_of(const HeapReader& heap) {
    const NativeResult found = native(heap, {});
    std::vector<NativeAmounts> rows;
    for (const NativeClassRow& row : found.classes)
        rows.push_back({row.name, row.smallest == row.largest ? row.largest : 0, row.count, row.bytes,
                        row.held.leaked, row.held.by, row.example});
    for (const NativeSizeRow& row : found.sizes)
        rows.push_back({"", row.size, row.count, row.bytes, row.held.leaked, row.held.by, row.example});
    return rows;
}

std::vector<UsedMemory> memory_of(const HeapReader& heap, KeptAnswers* answers) {
    std::vector<UsedMemory> rows;
    for (const MemoryRow& row : memory(heap, false, 0, answers).rows) {
        if (row.use != MemoryUse::in_use) continue;
        UsedMemory& used = rows.emplace_back(UsedMemory{row.name, row.bytes});
        used.is_free = row.name == free_row;
        used.is_c_code = row.name == c_code_row;
    }
    return rows;
}

void add_lines(const HeapReader& heap, Inventory& into) {
    const LinesResult found = lines(traced_memory(heap.core(), heap.python_heap()), {});
    into.traced = found.tracing;
    for (const LineRow& row : found.lines)
        into.lines.push_back({row.line().file, {row.count, row.size, row.size, 0, 0}, {}, row.line().line});
}

}  // namespace

Inventory take_inventory(Work& work, CoreIdentity identity, const EarlierObjects* before) {
    const auto find = [&] {
        Inventory made;
        HeldRows(work, before).find(made);
        made.objects = work.graph().object_count();
        made.in_use = work.heap().snapshot().memory->bytes_of(MemoryUse::in_use);
        made.types = types_of(work, made.held);
        made.arrays = arrays_of(work.heap());
        made.native = native_of(work.heap());
        made.memory = memory_of(work.heap(), work.answers());
        add_lines(work.heap(), made);
        return made;
    };
    Inventory made =
        before ? find() : kept_answer(work.answers(), KeptQuestion("inventory"), work.graph(), find);
    static_cast<CoreIdentity&>(made) = std::move(identity);
    return made;
}

}  // namespace heapsift
