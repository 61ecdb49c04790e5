// One pass over all objects asks each container for unused room (spare_room.h), each long list for boxed
// numbers (boxed_numbers.h), and adds up the instances of each class. Rows are by sort, type and holder:
// "dicts in app.CACHE['*']" can be mended, a single dict among thousands not.
//
// What __slots__ would save of an instance is computed as type.__new__ lays it out (typeobject.c): the
// collector's header, the base's fields, and a word for each attribute. There are as many attributes as the
// largest of the instances has. The instance loses its dict, or the values in its place, and the words for a
// dict and for weak references. A class whose base in C has a dict itself, such as an exception, cannot lose
// it.

#include "analysis/waste.h"

#include "analysis/array_waste.h"
#include "analysis/boxed_numbers.h"
#include "analysis/object_row.h"
#include "analysis/pass.h"
#include "analysis/spare_room.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/instance.h"
#include "parsers/numpy/array_layout.h"
#include "parsers/numpy/kinds.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::uint64_t most_slots = 1 << 16;

WasteSort sort_of(SpareKind kind) {
    switch (kind) {
        case SpareKind::list:
            return WasteSort::list_room;
        case SpareKind::dict:
            return WasteSort::dict_room;
        case SpareKind::set:
            return WasteSort::set_room;
        case SpareKind::bytearray:
            break;
    }
    return WasteSort::bytearray_room;
}

WasteSort sort_of(BoxedNumbers::Kind kind) {
    switch (kind) {
        case BoxedNumbers::Kind::floats:
            return WasteSort::boxed_floats;
        case BoxedNumbers::Kind::bools:
            return WasteSort::boxed_bools;
        case BoxedNumbers::Kind::ints:
            break;
    }
    return WasteSort::boxed_ints;
}

class WasteAdder {
public:
    WasteAdder(const HeapGraph& graph, const HolderLabeler& labels, std::size_t limit,
               const ProgressCallback& progress)
        : graph_(graph),
          columns_(graph.columns()),
          python_(graph.heap().python_heap()),
          labels_(labels),
          names_(labels),
          limit_(limit),
          progress_(progress) {
        for (const TypeInfo& type : columns_.types) kinds_.push_back(kind_of(type));
        instances_.resize(columns_.types.size());
    }

    WasteResult run() {
        for_each_object(columns_, "looking for unused memory", progress_,
                        [&](ObjectId object) { look_at(object); });
        for (auto& [key, row] : rows_) keep(std::move(row), std::get<2>(key));
        for (TypeId type{0}; type < instances_.size(); ++type) keep_instances(type);
        add_duplicates();
        add_arrays();
        finish();
        return std::move(result_);
    }

private:
    enum class Kind : std::uint8_t { other, container, tuple, instance, array };
    struct Instances {
        std::uint64_t count = 0, bytes = 0, most_attributes = 0, largest = 0;
        ObjectId example = no_object;
        std::unordered_map<std::uint32_t, std::uint64_t> labels;
    };

    Kind kind_of(const TypeInfo& type) const {
        switch (type.known) {
            case KnownType::list:
            case KnownType::dict:
            case KnownType::default_dict:
            case KnownType::set:
            case KnownType::bytearray:
                return Kind::container;
            case KnownType::tuple:
                return Kind::tuple;
            default:
                break;
        }
        if (type.kind == &ndarray_kind) return Kind::array;
        if (!type.python_class || !has_instance_dict(python_, type)) return Kind::other;
        return c_base(python_, type)->base == no_type ? Kind::instance : Kind::other;  // of `object`
    }

    void look_at(ObjectId object) {
        const TypeId type = columns_.type_of(object);
        if (type == no_type || kinds_[type] == Kind::other) return;
        if ((*columns_.sizes)[object].damaged) {
            ++result_.damaged;
            return;
        }
        const ObjectReader reader(python_, columns_.address_of(object), columns_.types[type]);
        switch (kinds_[type]) {
            case Kind::container:
                if (const auto room = spare_room(reader))
                    add(sort_of(room->kind), object, room->saves(), columns_.sizes->memory(object));
                if (columns_.types[type].known == KnownType::list) look_for_numbers(object);
                break;
            case Kind::tuple:
                look_for_numbers(object);
                break;
            case Kind::instance:
                add_instance(object, type, reader);
                break;
            case Kind::array:
                if (const auto facts = array_facts(reader); facts && facts->owns_data())
                    arrays_.push_back(object);
                break;
            case Kind::other:
                break;
        }
    }

    void look_for_numbers(ObjectId object) {
        if (graph_.targets(object).size() < fewest_boxed_numbers) return;
        if (const auto boxed = boxed_numbers(graph_, object))
            add(sort_of(boxed->kind), object, boxed->saves(), boxed->now);
    }

    void add(WasteSort sort, ObjectId object, std::uint64_t saves, std::uint64_t bytes) {
        WasteRow& row = rows_[{sort, columns_.type_of(object), labels_.label(object)}];
        ++row.count;
        row.saves += saves;
        row.bytes += bytes;
        std::uint64_t& most = most_[&row];
        if (row.example != no_object && most >= saves) return;
        most = saves;
        row.example = object;
        row.sort = sort;
    }

    void add_instance(ObjectId object, TypeId type, const ObjectReader& reader) {
        Instances& all = instances_[type];
        const InstanceDict found = instance_dict(reader);
        std::uint64_t bytes = columns_.sizes->memory(object), attributes = 0;
        if (!found.dict.is_null()) {
            const ObjectId dict = columns_.find(found.dict);
            if (dict != no_object && graph_.heap().collector_facts(dict).refcount == 1)
                bytes += columns_.sizes->memory(dict);
            if (const auto facts = python_.dict(found.dict))
                attributes = std::min(facts->used, facts->entry_count);
        } else {
            attributes = found.count;
        }
        ++all.count;
        all.bytes += bytes;
        all.most_attributes = std::max(all.most_attributes, std::min(attributes, most_slots));
        ++all.labels[labels_.label(object)];
        if (all.example != no_object && all.largest >= bytes) return;
        all.largest = bytes;
        all.example = object;
    }

    /// Of an instance of `type` with slots in place of a dict: its block.
    std::uint64_t with_slots(const TypeInfo& type, std::uint64_t attributes) const {
        const std::uint64_t base = c_base(python_, type)->basicsize;
        std::uint64_t own = type.basicsize - std::min(type.basicsize, base);
        for (const std::int64_t word : {type.dictoffset, type.weaklistoffset})
            if (word > 0) own -= std::min<std::uint64_t>(own, 8);
        return block_bytes(collector_header_size(python_.layout()) + base + own + 8 * attributes);
    }

    void keep_instances(TypeId type) {
        const Instances& all = instances_[type];
        if (all.count == 0) return;
        const std::uint64_t slotted = with_slots(columns_.types[type], all.most_attributes);
        if (slotted * all.count >= all.bytes) return;
        WasteRow row;
        row.sort = WasteSort::instance_dicts;
        row.count = all.count;
        row.bytes = all.bytes;
        row.saves = all.bytes - slotted * all.count;
        row.example = all.example;
        std::map<std::uint32_t, std::uint64_t> by_name;
        for (const auto& [label, count] : all.labels) by_name[names_.number(label)] += count;
        const auto most = std::max_element(by_name.begin(), by_name.end(),
                                           [](const auto& a, const auto& b) { return a.second < b.second; });
        keep_named(std::move(row), names_[most->first]);
    }

    void keep(WasteRow row, std::uint32_t label) { keep_named(std::move(row), names_[names_.number(label)]); }

    /// Rows of equal words are one.
    void keep_named(WasteRow row, const HolderCount& holder) {
        row.holder = holder;
        row.type = type_name(columns_.types, columns_.type_of(row.example));
        row.example_address = columns_.address_of(row.example);
        const auto [at, is_new] = by_words_.try_emplace(
            std::tuple(row.sort, row.type, holder.holder, holder.attribute), result_.rows.size());
        if (is_new) {
            result_.rows.push_back(std::move(row));
            return;
        }
        WasteRow& into = result_.rows[at->second];
        into.count += row.count;
        into.bytes += row.bytes;
        into.saves += row.saves;
    }

    void add_duplicates() {
        const DuplicatesResult equal = duplicates(graph_, labels_, 1, progress_);
        if (equal.values.empty()) return;
        result_.names_threads = equal.names_threads;
        WasteRow& row = result_.rows.emplace_back();
        row.sort = WasteSort::duplicates;
        row.count = equal.total_count;
        row.bytes = equal.total_memory;
        row.saves = equal.total_saves;
        row.holder = equal.by_holder.front();
        row.example = equal.values.front().first;
        row.example_address = columns_.address_of(row.example);
    }

    void add_arrays() {
        if (arrays_.empty()) return;
        const ArrayWasteResult found = array_waste(graph_.heap(), arrays_, 1, progress_);
        if (found.rows.empty()) return;
        WasteRow row;
        row.sort = WasteSort::arrays;
        row.count = found.total_rows;
        row.bytes = found.total_nbytes;
        row.saves = found.total_nbytes - found.total_needed;
        row.example = found.rows.front().array;
        keep(std::move(row), labels_.label(found.rows.front().array));
    }

    void finish() {
        auto& rows = result_.rows;
        std::erase_if(rows, [](const WasteRow& row) { return row.saves < least_waste; });
        std::sort(rows.begin(), rows.end(), [](const WasteRow& a, const WasteRow& b) {
            return std::tie(b.saves, b.bytes, a.sort, a.type, a.holder.holder, a.holder.attribute) <
                   std::tie(a.saves, a.bytes, b.sort, b.type, b.holder.holder, b.holder.attribute);
        });
        result_.total_rows = rows.size();
        result_.names_threads = result_.names_threads || names_.name_threads();
        for (const WasteRow& row : rows) result_.total_saves += row.saves;
        if (limit_ != 0 && rows.size() > limit_) rows.resize(limit_);
    }

    const HeapGraph& graph_;
    const HeapSnapshot& columns_;
    const PythonHeap& python_;
    const HolderLabeler& labels_;
    HolderNames names_;
    std::size_t limit_;
    const ProgressCallback& progress_;
    std::vector<Kind> kinds_;                                                // by TypeId
    std::vector<Instances> instances_;                                       // likewise
    std::vector<ObjectId> arrays_;                                           // that own their data
    std::map<std::tuple<WasteSort, TypeId, std::uint32_t>, WasteRow> rows_;  // by label
    std::unordered_map<const WasteRow*, std::uint64_t> most_;                // what their examples save
    std::map<std::tuple<WasteSort, std::string, std::string, std::string>, std::size_t> by_words_;
    WasteResult result_;
};

struct KeptWasteRows {
    WasteResult result;

    std::size_t rows() const {
        return result.names_threads ? KeptAnswers::most_rows + 1 : result.rows.size();
    }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph& graph) {
        auto& result = self.result;
        const HeapReader& heap = graph.heap();
        part.list(result.rows, [&](auto& row, Part& p) {
            p.number(row.sort);
            p.require(row.sort <= WasteSort::arrays, "waste is of no sort");
            kept_holder(row.holder, p);
            for (auto* number : {&row.count, &row.bytes, &row.saves}) p.number(*number);
            kept_object(row.example, p, heap);
            if constexpr (Part::reading) {
                row.example_address = heap.snapshot().address_of(row.example);
                if (row.sort != WasteSort::duplicates)
                    row.type = type_name(heap.snapshot().types, heap.snapshot().type_of(row.example));
            }
        });
        for (auto* number : {&result.total_rows, &result.total_saves, &result.damaged}) part.number(*number);
    }
};

}  // namespace

WasteResult waste(const HeapGraph& graph, std::size_t limit, const ProgressCallback& progress,
                  KeptAnswers* answers) {
    return kept_answer(answers, KeptQuestion("spare").with(limit), graph,
                       [&] {
                           HolderLabeler labels(graph, {}, progress);
                           labels.give_up_costs();
                           return KeptWasteRows{waste(graph, labels, limit, progress)};
                       })
        .result;
}

WasteResult waste(const HeapGraph& graph, const HolderLabeler& labels, std::size_t limit,
                  const ProgressCallback& progress) {
    return WasteAdder(graph, labels, limit, progress).run();
}

}  // namespace heapsift
