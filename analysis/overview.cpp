// The first screen. Its sentence is chosen by what a reader can act upon: first blocks of C code, of one size or
// class, if they have more than anything in Python; then array data that nobody uses, if it is at least half of
// what the first holder has; then the object that holds a good part of the memory; then array data and its
// owner; then a type that has a good part of the memory; then the largest part of the memory, whoever owns it.

#include "analysis/overview.h"

#include "analysis/cycle_reasons.h"
#include "analysis/dominant_types.h"
#include "analysis/holding/retained.h"
#include "analysis/kept_types.h"
#include "analysis/tensor_storages.h"
#include "analysis/untouched.h"
#include "parsers/snapshot/reference_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace heapsift {
namespace {

constexpr std::string_view array_data_region = "array data";
constexpr double share_worth_a_sentence = 0.10;  // of what is in use
constexpr double holder_of_all = 0.05, holder_of_objects = 0.15;
constexpr std::size_t most_holders = 5, most_all_holders = 200;

double share(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

const TypeRow* largest_by(const std::vector<TypeRow>& types, std::uint64_t TypeRow::*measure) {
    const auto found = std::max_element(types.begin(), types.end(), [&](const TypeRow& a, const TypeRow& b) {
        return a.*measure < b.*measure;
    });
    return found == types.end() || (*found).*measure == 0 ? nullptr : &*found;
}

}  // namespace

OverviewHeadline choose_headline(const std::vector<MemoryRow>& memory, std::uint64_t in_use_bytes,
                                 const std::vector<TypeRow>& all_types) {
    OverviewHeadline headline;
    std::uint64_t array_data = 0;
    for (const TypeRow& row : all_types) array_data += row.array_data;
    for (const auto& row : memory)
        if (row.name == array_data_region) array_data = row.bytes;
    const TypeRow* arrays = largest_by(all_types, &TypeRow::array_data);
    const TypeRow* objects = largest_by(all_types, &TypeRow::memory);
    if (arrays && share(array_data, in_use_bytes) >= share_worth_a_sentence &&
        array_data >= objects->memory - objects->array_data) {
        headline = {OverviewHeadline::Kind::array_data,
                    array_data,
                    {},
                    *arrays,
                    share(arrays->array_data, array_data) >= 0.99};
    } else if (objects && share(objects->memory, in_use_bytes) >= share_worth_a_sentence) {
        headline = {OverviewHeadline::Kind::objects, objects->memory, {}, *objects, false};
    } else if (!memory.empty()) {
        headline.bytes = memory.front().bytes;
        headline.region = memory.front().name;
    }
    return headline;
}

bool holder_is_headline(const OverviewResult& result) {
    if (result.holders.empty()) return false;
    const std::uint64_t bytes = result.holders.front().in_use();
    return share(bytes, result.in_use_bytes) >= holder_of_all ||
           share(bytes, result.object_memory) >= holder_of_objects;
}

bool free_is_headline(const OverviewResult& result) {
    constexpr std::uint64_t worth_a_sentence = 32 << 20;
    std::uint64_t free = 0;
    for (const MemoryRow& row : result.memory)
        if (row.name == free_row) free = row.bytes;
    const std::uint64_t other =
        std::max({result.holders.empty() ? 0 : result.holders.front().in_use(),
                  result.pinned ? result.pinned->unseen_bytes() : 0, result.garbage_memory,
                  result.garbage_list_memory, result.culprit ? result.culprit->bytes : 0});
    return free >= worth_a_sentence && 2 * free >= result.in_use_bytes && free >= 2 * other;
}

bool pinned_is_headline(const OverviewResult& result, std::uint64_t unseen) {
    const std::uint64_t largest = result.holders.empty() ? 0 : result.holders.front().in_use();
    return unseen >= largest / 2 && (share(unseen, result.in_use_bytes) >= holder_of_all ||
                                     share(unseen, result.object_memory) >= holder_of_objects);
}

namespace {

struct ArraysAndFrames {
    std::vector<PandasFrame> frames;
    std::vector<DroppedFrame> dropped;
    ArrayTable table;
};

ArraysAndFrames find_arrays(const HeapGraph& graph, const ProgressCallback& progress) {
    ArraysAndFrames found;
    found.frames = pandas_frames(graph.heap(), 0);
    found.dropped = dropped_frames(graph.heap(), found.frames, 0);
    found.table = array_table(graph, kept_parents(found.frames, found.dropped), progress);
    return found;
}

/// The sums of what slices pin; kept.
struct PinnedSums {
    std::uint64_t owners = 0, bytes = 0, dropped_frames = 0;

    std::size_t rows() const { return 0; }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader&) {
        for (auto* number : {&self.owners, &self.bytes, &self.dropped_frames}) part.number(*number);
    }
};

/// The holder whose slices pin most; kept.
struct PinnedHolder {
    ArrayHolders holders;  // one row, or none
    bool keepable = true;

    std::size_t rows() const { return keepable ? holders.rows.size() : KeptAnswers::most_rows + 1; }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapGraph& graph) {
        array_holders_fields(self.holders, part, graph);
    }
};

/// Fills in these sums. Returns the holder if it may become the headline, as if there were no others: they come
/// later.
PinnedHolder find_pinned(Work& work, OverviewResult& result) {
    const HeapGraph& graph = work.graph();
    std::optional<ArraysAndFrames> found;
    const PinnedSums sums = kept_answer(work.answers(), KeptQuestion("pinned"), work.heap(), [&] {
        found = find_arrays(graph, work.progress());
        const ArraySums& of_arrays = found->table.sums;
        return PinnedSums{of_arrays.pinned, of_arrays.pinned_bytes - of_arrays.pinned_visible,
                          found->dropped.size()};
    });
    result.dropped_frames = sums.dropped_frames;
    result.pinned_owners = sums.owners;
    result.pinned_bytes = sums.bytes;
    if (!pinned_is_headline(result, result.pinned_bytes)) return {};
    return kept_answer(work.answers(), KeptQuestion("pinholder"), graph, [&] {
        if (!found) found = find_arrays(graph, work.progress());
        const bool with_frames = !found->frames.empty() || !found->dropped.empty();
        add_dropped(found->frames, found->dropped);
        PinnedHolder most{
            array_holders(graph, found->table, found->frames, true, 1, nullptr, work.progress())};
        most.keepable = !with_frames && may_be_kept(graph, most.holders);
        return most;
    });
}

/// Why most of the garbage has not been freed; kept.
struct GarbageReasons {
    std::optional<CycleReason> garbage, garbage_list;

    std::size_t rows() const { return 0; }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        for (auto* reason : {&self.garbage, &self.garbage_list}) {
            bool there = reason->has_value();
            part.number(there);
            if constexpr (Part::reading)
                if (there) reason->emplace();
            if (there) reason_fields(**reason, part, heap);
        }
    }
};

/// Of garbage, the class in Python on whose instances most of it hangs. All members of a cycle hang side by side below
/// the garbage: an instance, its dict, and what that keeps is the dict's. Looks at some ten thousand of them.
void find_garbage_type(const RetainedLookup& retained, OverviewResult& result) {
    constexpr std::size_t most = 20'000;
    const HeapGraph& graph = retained.graph();
    const HeapSnapshot& columns = graph.columns();
    std::vector<ObjectId> members;
    retained.visit_children(graph.node_of(graph.unreachable_group()), [&](NodeId node) {
        if (graph.kind(node) == NodeKind::object && members.size() < most)
            members.push_back(HeapGraph::object_of(node));
    });
    const auto is_class = [&](TypeId type) { return type != no_type && columns.types[type].python_class; };
    struct Sum {
        std::uint64_t bytes = 0, count = 0;
        ObjectId first = no_object;
    };
    std::map<TypeId, Sum> by_type;
    std::map<ObjectId, TypeId> owner_of_dict;
    std::uint64_t all = 0;
    for (const ObjectId member : members) {
        all += retained.memory(member);
        const TypeId type = columns.type_of(member);
        if (!is_class(type)) continue;
        Sum& sum = by_type[type];
        sum.bytes += retained.memory(member);
        if (++sum.count == 1) sum.first = member;
        graph.heap().visit_references(member, [&](const Reference& reference) {
            if (!reference.step.is(Field::attributes)) return;
            if (const ObjectId dict = columns.find(reference.target); dict != no_object)
                owner_of_dict.emplace(dict, type);
        });
    }
    for (const ObjectId member : members)
        if (const auto owner = owner_of_dict.find(member); owner != owner_of_dict.end())
            by_type[owner->second].bytes += retained.memory(member);
    const auto largest = std::max_element(by_type.begin(), by_type.end(), [](const auto& a, const auto& b) {
        return a.second.bytes < b.second.bytes;
    });
    if (largest == by_type.end() || largest->second.bytes * 2 < all) return;
    result.garbage_type = largest->first;
    result.garbage_example = largest->second.first;
    result.garbage_type_count = members.size() < most ? largest->second.count : 0;
    result.garbage_type_name = type_name(columns.types, largest->first);
}

/// Garbage in bytes; if there is much, also why it has not been freed, for which the collector is replayed.
void find_garbage(Work& work, OverviewResult& result) {
    const RetainedLookup retained(work.graph(), work.retained());
    const HeapReader& heap = work.heap();
    const HeapSnapshot& columns = heap.snapshot();
    for (const PythonInterpreter& interpreter : columns.python.interpreters) {
        const auto state =
            gc_state(heap.core().memory(), columns.python, interpreter, columns.object_count(), false);
        const ObjectId list = state && !state->garbage.is_null() ? columns.find(state->garbage) : no_object;
        if (list != no_object && !columns.references->targets(list).empty())
            result.garbage_list_memory += retained.memory(list);
    }
    const auto much = [&](std::uint64_t bytes) { return bytes > 0 && bytes >= result.in_use_bytes / 100; };
    result.garbage_is_much = much(result.garbage_memory);
    result.garbage_list_is_much = much(result.garbage_list_memory);
    if (!result.garbage_is_much && !result.garbage_list_is_much) return;
    if (result.garbage_is_much) find_garbage_type(retained, result);
    const auto question =
        KeptQuestion("garbage").with(result.garbage_is_much).with(result.garbage_list_is_much);
    const GarbageReasons found = kept_answer(work.answers(), question, heap, [&] {
        const ObjectStates& states = work.states();
        const CycleReasons reasons = cycle_reasons(heap);
        GarbageReasons most;
        if (result.garbage_is_much)
            most.garbage = find_most_common_reason(
                heap, states, reasons, [&](ObjectId object) { return !states.in_garbage_list(object); });
        if (result.garbage_list_is_much)
            most.garbage_list = find_most_common_reason(
                heap, states, reasons, [&](ObjectId object) { return states.in_garbage_list(object); });
        return most;
    });
    const CycleReasons collectors = collectors_for_words(heap);
    result.garbage_reason = found.garbage;
    result.garbage_list_reason = found.garbage_list;
    if (found.garbage) result.garbage_remark = reason_words(columns, collectors, *found.garbage, false);
    if (found.garbage_list)
        result.garbage_list_remark = reason_words(columns, collectors, *found.garbage_list, false);
}

/// Largest first of what is in use: an array that was never written to explains nothing of it.
void rank_by_use(const HeapReader& heap, const RetainedLookup& retained, std::vector<TopHolder>& holders) {
    const UntouchedBuffers untouched(heap);
    if (untouched.empty()) return;
    for (TopHolder& holder : holders)
        if (!holder.joint)
            holder.untouched = std::min(untouched.below(retained, holder.node), holder.retained);
    std::stable_sort(holders.begin(), holders.end(),
                     [](const TopHolder& a, const TopHolder& b) { return a.in_use() > b.in_use(); });
}

std::uint64_t bytes_of(const OverviewResult& result, std::string_view region) {
    for (const MemoryRow& row : result.memory)
        if (row.name == region) return row.bytes;
    return 0;
}

/// Blocks of C code of one size or class, if they have more than anything in Python that could be named.
void find_native_culprit(const HeapReader& heap, OverviewResult& result) {
    const std::uint64_t bytes = bytes_of(result, c_code_row);
    const std::uint64_t python =
        std::max({result.holders.empty() ? 0 : result.holders.front().in_use(),
                  result.pinned ? result.pinned->unseen_bytes() : 0, bytes_of(result, array_data_region)});
    if (share(bytes, result.in_use_bytes) < share_worth_a_sentence || bytes < python) return;
    result.culprit = native_culprit(heap);
    if (!result.culprit) return;
    // What holds most of these blocks says more than what they are.
    const bool leaked = result.culprit->held.leaked * 2 > result.culprit->count;
    const auto has_name = [](const TopHolder& holder) {
        return holder.object.has_value() || (holder.joint && holder.joint->native);
    };
    const std::uint64_t held =
        result.holders.empty() || !has_name(result.holders.front()) ? 0 : result.holders.front().in_use();
    const std::uint64_t objects = bytes_of(result, objects_row);
    const std::uint64_t least = leaked ? python : std::max({python, 2 * held, objects});
    result.python_is_small = objects <= result.culprit->bytes;
    if (result.culprit->bytes < least) result.culprit.reset();
}

}  // namespace

OverviewResult overview(Work& work, std::size_t type_limit) {
    const HeapReader& heap = work.heap();
    const ProgressCallback& progress = work.progress();
    OverviewResult result;
    result.types = kept_types(work.answers(), heap, SortKey::memory, 0,
                              [&] { return types(heap, SortKey::memory, 0, progress); });
    result.memory = heap.snapshot().memory->rows;
    result.memory_overlaps = heap.snapshot().memory->overlaps;
    std::stable_sort(result.memory.begin(), result.memory.end(), [](const auto& a, const auto& b) {
        return a.use != b.use ? a.use < b.use : a.bytes > b.bytes;
    });
    result.mapped_bytes = heap.core().extent().mapped_bytes;
    result.in_use_bytes = heap.snapshot().memory->bytes_of(MemoryUse::in_use);
    result.reserved_bytes = heap.snapshot().memory->bytes_of(MemoryUse::reserved);
    const HeapGraph& graph = work.graph();
    const RetainedLookup retained(graph, work.retained());
    result.object_memory = retained.memory(graph.root());
    result.garbage_memory = retained.memory(graph.node_of(graph.unreachable_group()));
    // Arrays first: their walk uses the rows of edges, which are given up with the top holders.
    const PinnedHolder pinned = find_pinned(work, result);
    if (progress) progress("overview", 0);
    find_garbage(work, result);
    std::vector<TopHolder> holders = top_holders(graph, work.retained(), result.object_memory / 100,
                                                 most_all_holders, progress, work.answers());
    rank_by_use(heap, retained, holders);
    for (TopHolder& holder : holders) {
        const bool first =
            result.holders.size() < most_holders && holder.in_use() >= result.object_memory / 50;
        (first ? result.holders : result.more_holders).push_back(std::move(holder));
    }
    if (!pinned.holders.rows.empty() &&
        pinned_is_headline(result, pinned.holders.rows.front().unseen_bytes()))
        result.pinned = pinned.holders.rows.front();
    result.pinned_tensor = result.pinned && result.pinned->example != no_object &&
                           is_tensor(work.heap().snapshot(), result.pinned->example);
    find_native_culprit(heap, result);
    result.sparse_arenas = heap.snapshot().memory->sparse.arenas;
    result.sparse_bytes = heap.snapshot().memory->sparse.free_bytes;
    if (free_is_headline(result))
        result.headline = {
            OverviewHeadline::Kind::other_memory, bytes_of(result, free_row), free_row, {}, false};
    else if (result.culprit)
        result.headline = {
            OverviewHeadline::Kind::other_memory, bytes_of(result, c_code_row), c_code_row, {}, false};
    else if (result.pinned)
        result.headline = {OverviewHeadline::Kind::pinned, result.pinned->unseen_bytes(), {}, {}, false};
    else if (holder_is_headline(result))
        result.headline = {OverviewHeadline::Kind::holder, result.holders.front().in_use(), {}, {}, false};
    else
        result.headline = choose_headline(result.memory, result.in_use_bytes, result.types.types);
    result.dominant_types = dominant_types(result.types.types, result.types.total_memory);
    cut_types(result.types, type_limit);
    return result;
}

}  // namespace heapsift
