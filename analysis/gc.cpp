// Each interpreter has a collector of its own. If there are several, the list that an object is in tells its
// interpreter.

#include "analysis/gc.h"

#include "analysis/generations.h"
#include "analysis/object_states.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/snapshot/reference_graph.h"

#include <algorithm>
#include <array>
#include <map>

namespace heapsift {
namespace {

/// What a replay of the collectors finds; kept.
struct FoundByCollectors {
    struct Sums {  // of an interpreter, as in GcInterpreter
        CollectorTally collectable, uncollectable, frozen_garbage, doubtful;
        std::uint64_t freed_count = 0, freed_bytes = 0;
        struct List {
            std::uint64_t objects = 0;
            bool whole = true;
        };
        std::array<List, 4> lists;  // of each generation, and of what is frozen
    };
    std::vector<Sums> interpreters;
    struct Finalizers {
        TypeId type = no_type;
        std::uint64_t count = 0;
    };
    std::vector<Finalizers> finalizers;
    bool certain = true;
    std::vector<ObjectId> found;
    std::uint64_t found_count = 0;

    std::size_t rows() const { return found.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        part.list(self.interpreters, [](auto& sums, Part& p) {
            for (auto* tally :
                 {&sums.collectable, &sums.uncollectable, &sums.frozen_garbage, &sums.doubtful}) {
                p.number(tally->count);
                p.number(tally->size);
            }
            p.number(sums.freed_count);
            p.number(sums.freed_bytes);
            for (auto& list : sums.lists) {
                p.number(list.objects);
                p.number(list.whole);
            }
        });
        part.require(self.interpreters.size() == heap.snapshot().python.interpreters.size(),
                     "there are other interpreters now");
        part.list(self.finalizers, [&](auto& row, Part& p) {
            kept_type(row.type, p, heap);
            p.number(row.count);
        });
        part.number(self.certain);
        kept_object_list(self.found, part, heap);
        part.number(self.found_count);
    }
};

class CollectorSearch {
public:
    CollectorSearch(const HeapReader& heap, std::size_t limit, const Collection& collection)
        : heap_(heap), limit_(limit), collection_(collection) {}

    FoundByCollectors find(bool list) {
        result_.interpreters.resize(columns().python.interpreters.size());
        for (std::size_t i = 0; i < result_.interpreters.size(); ++i)
            count_lists(columns().python.interpreters[i], result_.interpreters[i]);
        if (has_collector_bits(columns().python.layout) && !result_.interpreters.empty())
            count_bits(result_.interpreters.front());
        if (result_.interpreters.size() > 1)
            share_out();
        else if (!result_.interpreters.empty())
            take_all(result_.interpreters.front());
        result_.certain = collection_.certain;
        std::map<TypeId, std::uint64_t> finalizers;
        for (const ObjectId object : collection_.finalizers) ++finalizers[columns().type_of(object)];
        for (const auto& [type, count] : finalizers) result_.finalizers.push_back({type, count});
        for (ObjectId object{0}; list && object < columns().object_count(); ++object)
            if (collection_.found(object) && (++result_.found_count <= limit_ || limit_ == 0))
                result_.found.push_back(object);
        return std::move(result_);
    }

private:
    using Sums = FoundByCollectors::Sums;

    void count_lists(const PythonInterpreter& interpreter, Sums& row) const {
        const auto state =
            gc_state(heap_.core().memory(), columns().python, interpreter, columns().object_count());
        if (!state) return;
        for (std::size_t i = 0; i < state->generations.size(); ++i)
            row.lists[i] = {state->generations[i].objects, state->generations[i].whole};
        row.lists.back() = {state->frozen.objects, state->frozen.whole};
    }

    /// Without lists there are no generations: each collection is of all objects. Immortal ones are tracked as well,
    /// although the collector passes over them.
    void count_bits(Sums& row) const {
        for (const std::int8_t generation : generations(heap_)) {
            if (generation == 0) ++row.lists.front().objects;
            if (generation == frozen_generation) ++row.lists.back().objects;
        }
    }

    void take_all(Sums& row) const {
        row.collectable = collection_.collectable;
        row.uncollectable = collection_.uncollectable;
        row.frozen_garbage = collection_.frozen_garbage;
        row.doubtful = collection_.doubtful;
        row.freed_count = collection_.freed_count;
        row.freed_bytes = collection_.freed_bytes;
    }

    void share_out() {
        std::vector<std::uint16_t> of = interpreters_by_list(heap_);
        std::replace(of.begin(), of.end(), no_interpreter, std::uint16_t{0});
        std::vector<ObjectSizes> one(1);
        std::vector<std::vector<ObjectId>> freed(result_.interpreters.size());
        for (ObjectId object{0}; object < columns().object_count(); ++object) {
            Sums& row = result_.interpreters[of[object]];
            CollectorTally* tally = tally_of(row, collection_.of[object]);
            if (!tally) continue;
            heap_.sizes(object, one);
            ++tally->count;
            tally->size += one[0].size;
            if (tally == &row.collectable || tally == &row.doubtful) freed[of[object]].push_back(object);
        }
        DyingByCounts death(heap_);
        for (std::size_t i = 0; i < freed.size(); ++i) {
            Sums& row = result_.interpreters[i];
            const auto add = [&](ObjectId object) {
                heap_.sizes(object, one);
                ++row.freed_count;
                row.freed_bytes += one[0].memory;
            };
            for (const ObjectId object : freed[i]) add(object);
            death.run(freed[i], add);
        }
    }

    static CollectorTally* tally_of(Sums& row, CollectorVerdict verdict) {
        switch (verdict) {
            case CollectorVerdict::collectable:
                return &row.collectable;
            case CollectorVerdict::uncollectable:
                return &row.uncollectable;
            case CollectorVerdict::frozen_garbage:
                return &row.frozen_garbage;
            case CollectorVerdict::doubtful:
                return &row.doubtful;
            default:
                return nullptr;
        }
    }

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    std::size_t limit_;
    const Collection& collection_;
    FoundByCollectors result_;
};

/// Makes rows of the items of a list, and returns how many there are.
std::uint64_t rows_of(const HeapReader& heap, Address address, std::size_t limit,
                      std::vector<ObjectRow>& rows) {
    const HeapSnapshot& columns = heap.snapshot();
    const ObjectId list = address.is_null() ? no_object : columns.find(address);
    if (list == no_object) return 0;
    const auto items = columns.references->targets(list);
    for (const ObjectId item : items)
        if (limit == 0 || rows.size() < limit) rows.push_back(object_row(heap, item));
    return items.size();
}

GcInterpreter interpreter_row(const HeapReader& heap, const PythonInterpreter& interpreter,
                              const FoundByCollectors::Sums& sums, std::size_t limit) {
    GcInterpreter row;
    row.id = interpreter.id;
    row.state = gc_state(heap.core().memory(), heap.snapshot().python, interpreter, 0, false);
    if (row.state) {
        for (std::size_t i = 0; i < row.state->generations.size(); ++i) {
            row.state->generations[i].objects = sums.lists[i].objects;
            row.state->generations[i].whole = sums.lists[i].whole;
        }
        row.state->frozen.objects = sums.lists.back().objects;
        row.state->frozen.whole = sums.lists.back().whole;
        row.garbage_count = rows_of(heap, row.state->garbage, limit, row.garbage);
        rows_of(heap, row.state->callbacks, limit, row.callbacks);
    }
    row.collectable = sums.collectable;
    row.uncollectable = sums.uncollectable;
    row.frozen_garbage = sums.frozen_garbage;
    row.doubtful = sums.doubtful;
    row.freed_count = sums.freed_count;
    row.freed_bytes = sums.freed_bytes;
    return row;
}

}  // namespace

GcResult gc(const HeapReader& heap, std::size_t limit, bool list, const ProgressCallback& progress,
            KeptAnswers* answers, const Collection* replayed) {
    const HeapSnapshot& columns = heap.snapshot();
    const auto question = KeptQuestion("gc").with(list).with(list ? limit : 0);
    FoundByCollectors found = kept_answer(answers, question, heap, [&] {
        return replayed ? CollectorSearch(heap, limit, *replayed).find(list)
                        : CollectorSearch(heap, limit, replay_collector(heap, progress)).find(list);
    });
    GcResult result;
    for (std::size_t i = 0; i < found.interpreters.size(); ++i)
        result.interpreters.push_back(
            interpreter_row(heap, columns.python.interpreters[i], found.interpreters[i], limit));
    result.certain = found.certain;
    std::map<std::string, std::uint64_t> finalizers;  // types may have the same name
    for (const auto& [type, count] : found.finalizers) finalizers[type_name(columns.types, type)] += count;
    for (const auto& [type, count] : finalizers) result.finalizers.push_back({type, count});
    std::stable_sort(result.finalizers.begin(), result.finalizers.end(),
                     [](const GcFinalizer& a, const GcFinalizer& b) { return a.count > b.count; });
    result.found = std::move(found.found);
    result.found_count = found.found_count;
    return result;
}

}  // namespace heapsift
