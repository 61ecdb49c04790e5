// Each interpreter has a collector of its own. If there are several, the list that an object is in tells its
// interpreter.

#include "analysis/gc.h"

#include "analysis/generations.h"
#include "analysis/object_states.h"
#include "parsers/snapshot/reference_graph.h"

#include <algorithm>
#include <map>

namespace heapsift {
namespace {

class GcReport {
public:
    GcReport(const HeapReader& heap, std::size_t limit, const ProgressCallback& progress)
        : heap_(heap), limit_(limit), collection_(replay_collector(heap, progress)) {}

    GcResult report(bool list) {
        for (const PythonInterpreter& interpreter : columns().python.interpreters) add(interpreter);
        if (result_.interpreters.size() > 1)
            share_out();
        else if (!result_.interpreters.empty())
            take_all(result_.interpreters.front());
        result_.certain = collection_.certain;
        std::map<std::string, std::uint64_t> finalizers;
        for (const ObjectId object : collection_.finalizers)
            ++finalizers[type_name(columns().types, columns().type_of(object))];
        for (const auto& [type, count] : finalizers) result_.finalizers.push_back({type, count});
        std::stable_sort(result_.finalizers.begin(), result_.finalizers.end(),
                         [](const GcFinalizer& a, const GcFinalizer& b) { return a.count > b.count; });
        for (ObjectId object{0}; list && object < columns().object_count(); ++object)
            if (collection_.found(object) && (++result_.found_count <= limit_ || limit_ == 0))
                result_.found.push_back(object);
        return std::move(result_);
    }

private:
    void add(const PythonInterpreter& interpreter) {
        GcInterpreter row;
        row.id = interpreter.id;
        row.state = gc_state(heap_.core().memory(), columns().python, interpreter, columns().object_count());
        if (row.state) {
            row.garbage_count = rows_of(row.state->garbage, row.garbage);
            rows_of(row.state->callbacks, row.callbacks);
        }
        result_.interpreters.push_back(std::move(row));
    }

    /// Makes rows of the items of a list, and returns how many there are.
    std::uint64_t rows_of(Address address, std::vector<ObjectRow>& rows) const {
        const ObjectId list = address.is_null() ? no_object : columns().find(address);
        if (list == no_object) return 0;
        const auto items = columns().references->targets(list);
        for (const ObjectId item : items)
            if (limit_ == 0 || rows.size() < limit_) rows.push_back(object_row(heap_, item));
        return items.size();
    }

    void take_all(GcInterpreter& row) const {
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
            GcInterpreter& row = result_.interpreters[of[object]];
            CollectorTally* tally = tally_of(row, collection_.of[object]);
            if (!tally) continue;
            heap_.sizes(object, one);
            ++tally->count;
            tally->size += one[0].size;
            if (tally == &row.collectable) freed[of[object]].push_back(object);
        }
        DyingByCounts death(heap_);
        for (std::size_t i = 0; i < freed.size(); ++i) {
            GcInterpreter& row = result_.interpreters[i];
            const auto add = [&](ObjectId object) {
                heap_.sizes(object, one);
                ++row.freed_count;
                row.freed_bytes += one[0].memory;
            };
            for (const ObjectId object : freed[i]) add(object);
            death.run(freed[i], add);
        }
    }

    static CollectorTally* tally_of(GcInterpreter& row, CollectorVerdict verdict) {
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
    Collection collection_;
    GcResult result_;
};

}  // namespace

GcResult gc(const HeapReader& heap, std::size_t limit, bool list, const ProgressCallback& progress) {
    return GcReport(heap, limit, progress).report(list);
}

}  // namespace heapsift
