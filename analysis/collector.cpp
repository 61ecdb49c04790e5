// The collector finds garbage by subtraction (gcmodule.c, deduce_unreachable): each tracked object starts
// with its reference count and loses one for each reference from another that its traverse reports. An object
// with any left is held from outside, and so is everything it leads to. The rest is garbage, whatever list it
// is in: gc.collect() takes all generations.
//
// This replay does the same on flat arrays, and answers three more questions with them. What is found as well
// if each guess that counts believe (a word that is a reference) is one that traverse reports? Mostly it is, and the
// process has that garbage; so it counts as found, and is said to rest on guesses. What would be found
// if nothing were frozen? What do objects with a legacy finalizer reach? The collector leaves all of that alone.
//
// Untracked objects that die with garbage (strings, numbers, arrays) are found by releasing references, as
// they really are.

#include "analysis/collector.h"

#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/gc_state.h"
#include "parsers/cpython/old_classes.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/cpython/type_flags.h"
#include "parsers/snapshot/reference_graph.h"
#include "parsers/snapshot/reported_references.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint8_t asked_collected = 1, asked_frozen = 2;  // kinds of tracked objects

class Replay {
public:
    Replay(const HeapReader& heap, const ProgressCallback& progress)
        : heap_(heap),
          progress_(progress),
          asked_(heap.snapshot().object_count(), 0),
          counts_(heap.snapshot().object_count(), 0) {}

    Collection run() {
        find_candidates();
        reported_ = heap_.reported_references(asked_, progress_);
        if (has_collector_bits(columns().python.layout)) untrack();
        if (progress_) progress_("the collector, replayed", 0);
        judge();
        tally();
        find_finalizers();
        find_dying();
        result_.of = std::move(of_);
        return std::move(result_);
    }

private:
    void find_candidates() {
        of_.assign(columns().object_count(), CollectorVerdict::not_known);
        for (ObjectId object{0}; object < asked_.size(); ++object) {
            if (!columns().type_info(object).has_gc) continue;
            const CollectorFacts facts = heap_.collector_facts(object);
            if (!facts.tracked || facts.immortal) continue;
            asked_[object] = asked_collected;
            of_[object] = CollectorVerdict::kept;
            counts_[object] = static_cast<std::int32_t>(
                std::clamp<std::int64_t>(facts.refcount, -most_counted, most_counted));
            if (is_frozen_by_bit(columns().address_of(object))) freeze(object);
        }
        for (const CollectorList& list : collector_lists(columns().python)) {
            if (list.generation != frozen_generation) continue;
            walk_collector_list(heap_.core().memory(), columns().python.layout.gc_head, list,
                                columns().object_count(), [&](Address address) {
                                    const ObjectId object = columns().find(address);
                                    if (object == no_object || asked_[object] != asked_collected) return;
                                    freeze(object);
                                });
        }
    }

    void freeze(ObjectId object) {
        asked_[object] = asked_frozen;
        of_[object] = CollectorVerdict::frozen;
        ++result_.frozen;
    }

    /// Free-threaded builds have no list of what is frozen.
    bool is_frozen_by_bit(Address object) const {
        const Layout& layout = columns().python.layout;
        if (!has_collector_bits(layout)) return false;
        const auto bits = heap_.core().memory().read<std::uint8_t>(object + *layout.object.ob_gc_bits);
        return bits && (*bits & gc_bit_frozen) != 0;
    }

    /// Free-threaded builds first untrack each tuple, and each dict up to 3.13, that refers to nothing which may be
    /// tracked (gc_free_threading.c, update_refs). With the GIL only what is in use is untracked.
    void untrack() {
        const bool dicts = collector_untracks_dicts(columns().python.layout);
        const auto may_be_tracked = [&](ObjectId target) {
            const TypeInfo& type = columns().type_info(target);
            if (!type.has_gc || (type.known == KnownType::tuple && asked_[target] == 0)) return false;
            const Address flags = columns().address_of(target) + *columns().python.layout.type.tp_flags;
            return !(type.flags & type_subclass_flag) ||
                   (heap_.python_heap().integer<std::uint64_t>(flags) & heap_type_flag) != 0;
        };
        for (ObjectId object{0}; object < asked_.size(); ++object) {
            const KnownType type = columns().type_info(object).known;
            if (asked_[object] != asked_collected ||
                (type != KnownType::tuple && !(dicts && type == KnownType::dict)))
                continue;
            const auto targets = reported_.targets(object);
            if (std::any_of(targets.begin(), targets.end(), may_be_tracked)) continue;
            asked_[object] = 0;
            of_[object] = CollectorVerdict::not_known;
        }
    }

    /// Subtracts the references from objects of `kind`; counts_ is what remains.
    void subtract(std::uint8_t kind) {
        for (ObjectId source{0}; source < asked_.size(); ++source)
            if (asked_[source] == kind)
                for (const ObjectId target : reported_.targets(source)) --counts_[target];
    }

    /// For objects that count less than is reported: CPython's number is unsigned (gc_decref); it wraps, and
    /// acts like any other that is not 0.
    void wrap(std::uint8_t kind) {
        for (ObjectId object{0}; object < asked_.size(); ++object) {
            if (counts_[object] >= 0 || asked_[object] == 0 || asked_[object] > kind) continue;
            counts_[object] = static_cast<std::int32_t>(most_counted);
            result_.short_of_counts.push_back(object);
        }
    }

    /// Objects up to `kind` that nothing with remaining references reaches: one bit per object.
    std::vector<bool> unreachable(std::uint8_t kind, bool guesses) const {
        const auto in = [&](ObjectId object) { return asked_[object] != 0 && asked_[object] <= kind; };
        std::vector<bool> found(asked_.size());
        for (ObjectId object{0}; object < asked_.size(); ++object)
            found[object] = in(object) && counts_[object] <= 0;
        std::vector<ObjectId> pending;
        const auto keep = [&](ObjectId target) {
            if (!found[target]) return;
            found[target] = false;
            pending.push_back(target);
        };
        // In address order: what an object leads to is often nearby, and still cached.
        for (ObjectId object{0}; object < asked_.size(); ++object) {
            if (!in(object) || counts_[object] <= 0) continue;
            pending.push_back(object);
            while (!pending.empty()) {
                const ObjectId source = pending.back();
                pending.pop_back();
                for (const ObjectId target : reported_.targets(source)) keep(target);
                if (guesses) visit_guesses(source, keep);
            }
        }
        return found;
    }

    template <class Visit>
    void visit_guesses(ObjectId source, Visit visit) const {
        const auto all = reported_.guesses();
        const auto first = std::lower_bound(all.begin(), all.end(), source,
                                            [](const auto& guess, ObjectId s) { return guess.source < s; });
        for (auto it = first; it != all.end() && it->source == source; ++it) visit(it->target);
    }

    /// Asks a further question only if its subtraction leaves another object without references.
    void judge() {
        subtract(asked_collected);
        wrap(asked_collected);
        const std::vector<bool> found = unreachable(asked_collected, false);
        for (ObjectId object{0}; object < asked_.size(); ++object)
            if (found[object]) of_[object] = CollectorVerdict::collectable;
        mark_legacy(found);
        // The guesses of what is frozen are not the collector's: with those of the others alone first.
        const auto of_kind = [&](const auto& guess) { return asked_[guess.source] == asked_collected; };
        bool more = false;
        for (const auto& guess : reported_.guesses())
            if (of_kind(guess)) more = --counts_[guess.target] == 0 || more;
        if (more) mark_more(unreachable(asked_collected, true), CollectorVerdict::doubtful);
        for (const auto& guess : reported_.guesses())
            if (of_kind(guess)) ++counts_[guess.target];
        if (result_.frozen > 0) {
            subtract(asked_frozen);
            wrap(asked_frozen);
            std::sort(result_.short_of_counts.begin(), result_.short_of_counts.end());
            bool any = false;
            for (ObjectId object{0}; object < asked_.size() && !any; ++object)
                any = asked_[object] == asked_frozen && counts_[object] <= 0;
            if (any) mark_more(unreachable(asked_frozen, false), CollectorVerdict::frozen_garbage);
        }
        if (result_.frozen == 0) return;
        bool any = false;
        for (const auto& guess : reported_.guesses()) any = --counts_[guess.target] == 0 || any;
        if (any)
            rests_on_guesses_ = mark_more(unreachable(asked_frozen, true), CollectorVerdict::frozen_garbage);
    }

    /// Whether there were any.
    bool mark_more(const std::vector<bool>& found, CollectorVerdict verdict) {
        bool any = false;
        for (ObjectId object{0}; object < asked_.size(); ++object)
            if (found[object] &&
                (of_[object] == CollectorVerdict::kept || of_[object] == CollectorVerdict::frozen)) {
                of_[object] = verdict;
                any = true;
            }
        return any;
    }

    void mark_legacy(const std::vector<bool>& found) {
        const FinalizerSlots slots(heap_);
        std::vector<ObjectId> pending;
        const auto mark = [&](ObjectId object) {
            if (of_[object] != CollectorVerdict::collectable) return;
            of_[object] = CollectorVerdict::uncollectable;
            pending.push_back(object);
        };
        for (ObjectId object{0}; object < asked_.size(); ++object)
            if (found[object] && slots.has_legacy(object, columns().type_of(object))) mark(object);
        while (!pending.empty()) {
            const ObjectId source = pending.back();
            pending.pop_back();
            for (const ObjectId target : reported_.targets(source)) mark(target);
        }
    }

    CollectorTally* tally_of(CollectorVerdict verdict) {
        switch (verdict) {
            case CollectorVerdict::collectable:
                return &result_.collectable;
            case CollectorVerdict::uncollectable:
                return &result_.uncollectable;
            case CollectorVerdict::frozen_garbage:
                return &result_.frozen_garbage;
            case CollectorVerdict::doubtful:
                return &result_.doubtful;
            default:
                return nullptr;
        }
    }

    void tally() {
        std::vector<ObjectSizes> one(1);
        for (ObjectId object{0}; object < asked_.size(); ++object)
            if (CollectorTally* tally = tally_of(of_[object])) {
                heap_.sizes(object, one);
                ++tally->count;
                tally->size += one[0].size;
                if (is_freed(of_[object])) {
                    ++result_.freed_count;
                    result_.freed_bytes += one[0].memory;
                }
            }
        result_.certain = result_.doubtful.count == 0 && !rests_on_guesses_;
        for (const PythonInterpreter& interpreter : columns().python.interpreters)
            if (const auto state = gc_state(heap_.core().memory(), columns().python, interpreter, 0, false))
                result_.certain = result_.certain && !state->collecting;
    }

    void find_finalizers() {
        const FinalizerSlots slots(heap_);
        if (result_.collectable.count + result_.doubtful.count == 0) return;
        for (ObjectId object{0}; object < asked_.size(); ++object)
            if (is_freed(of_[object]) && slots.modern[columns().type_of(object)] &&
                !heap_.collector_facts(object).finalized)
                result_.finalizers.push_back(object);
    }

    void find_dying() {
        if (result_.collectable.count + result_.frozen_garbage.count + result_.doubtful.count == 0) return;
        std::vector<ObjectId> freed;
        for (ObjectId object{0}; object < asked_.size(); ++object)
            if (is_freed(of_[object])) freed.push_back(object);
        DyingByCounts death(heap_);
        std::vector<ObjectSizes> one(1);
        std::vector<ObjectId> dying;
        death.run(freed, [&](ObjectId object) {
            dying.push_back(object);
            heap_.sizes(object, one);
            ++result_.freed_count;
            result_.freed_bytes += one[0].memory;
        });
        // What the rest of the garbage holds is not freed either, and is not counted.
        for (ObjectId object{0}; object < asked_.size(); ++object)
            if (of_[object] == CollectorVerdict::frozen_garbage) freed.push_back(object);
        if (result_.frozen_garbage.count > 0)
            death.run(freed, [&](ObjectId object) { dying.push_back(object); });
        for (const ObjectId object : dying) of_[object] = CollectorVerdict::dies;
    }

    static bool is_freed(CollectorVerdict verdict) {
        return verdict == CollectorVerdict::collectable || verdict == CollectorVerdict::doubtful;
    }

    static constexpr std::int64_t most_counted = 1 << 30;

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    const ProgressCallback& progress_;
    std::vector<std::uint8_t> asked_;   // by object
    std::vector<std::int32_t> counts_;  // by object
    ReportedReferences reported_;
    bool rests_on_guesses_ = false;  // that some frozen garbage is garbage
    Collection result_;
    std::vector<CollectorVerdict> of_;  // becomes result_.of
};

bool has_slot(const HeapReader& heap, const TypeInfo& type, LayoutOffset slot) {
    return slot.present() &&
           !heap.core().memory().read_address(type.address + *slot).value_or(Address()).is_null();
}

}  // namespace

FinalizerSlots::FinalizerSlots(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    for (const TypeInfo& type : columns.types) {
        // In 2.7 that of a type made by C, such as the generator's, does not count.
        const bool counts = type.heap_type || !has_old_classes(columns.python.layout);
        legacy.push_back(counts && has_slot(heap, type, columns.python.layout.type.tp_del));
        modern.push_back(has_slot(heap, type, columns.python.layout.type.tp_finalize));
    }
    if (!has_old_classes(columns.python.layout)) return;
    OldFinalizers old(heap.python_heap());
    for (ObjectId object{0}; object < columns.object_count(); ++object)
        if (old.has(columns.address_of(object), columns.type_info(object))) old_.push_back(object);
}

DyingByCounts::DyingByCounts(const HeapReader& heap)
    : heap_(heap), taken_(heap.snapshot().object_count(), 0) {}

void DyingByCounts::run(std::span<const ObjectId> freed, const std::function<void(ObjectId)>& visit) {
    constexpr std::uint32_t gone = 0xffffffff;
    const ReferenceGraph& graph = *columns().references;
    std::vector<ObjectId> pending(freed.begin(), freed.end());
    touched_.assign(freed.begin(), freed.end());
    for (const ObjectId object : freed) taken_[object] = gone;
    while (!pending.empty()) {
        const ObjectId source = pending.back();
        pending.pop_back();
        for (const ObjectId target : graph.targets(source)) {
            if (taken_[target] == gone) continue;
            if (taken_[target]++ == 0) touched_.push_back(target);
            const CollectorFacts facts = heap_.collector_facts(target);
            if (facts.immortal || facts.refcount <= 0 ||
                static_cast<std::int64_t>(taken_[target]) < facts.refcount)
                continue;
            taken_[target] = gone;
            visit(target);
            pending.push_back(target);
        }
    }
    for (const ObjectId object : touched_) taken_[object] = 0;
}

Collection replay_collector(const HeapReader& heap, const ProgressCallback& progress) {
    return Replay(heap, progress).run();
}

}  // namespace heapsift
