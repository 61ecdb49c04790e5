#pragma once

// What gc.collect() would have found at the moment of the dump: a replay of the collector. (How:
// collector.cpp.)

#include "parsers/base/stored.h"
#include "parsers/reading/heap_reader.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace heapsift {

enum class CollectorVerdict : std::uint8_t {
    not_known,    // not tracked, or immortal: the collector does not look at it
    kept,         // something that the collector does not see refers to it
    frozen,       // set aside by gc.freeze(): the collector treats it as outside
    collectable,  // it would be found and freed
    // it would be found, but not freed: it, or an object that leads to it, has a legacy finalizer
    uncollectable,
    frozen_garbage,  // it would be found if gc.freeze() had not set aside it or an object that leads to it
    doubtful,        // it would be found and freed if traverse reports the references that are guessed
    dies             // not found by the collector, but freed with what holds it
};

struct CollectorTally {
    std::uint64_t count = 0, size = 0;
};

struct Collection {
    Stored<CollectorVerdict> of;  // by object
    CollectorTally collectable, uncollectable, frozen_garbage, doubtful;
    std::uint64_t frozen = 0;  // objects
    // the collectable and doubtful ones and those that die with them; bytes: ObjectSizes::memory
    std::uint64_t freed_count = 0, freed_bytes = 0;
    /// Collectable objects with a finalizer that has not run: it may keep them alive, and what they lead to.
    /// By id.
    std::vector<ObjectId> finalizers;
    /// Tracked objects to which more references are reported than they count: released once too often. By id.
    std::vector<ObjectId> short_of_counts;
    /// False if the result depends on guesses, or if a collection was running.
    bool certain = true;

    /// As a part of an index (parsers/index/part.h), for so many objects.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t objects) {
        const auto id = [&](auto& object, Part& p) {
            p.number(object);
            p.require(object < objects, "a number is no object's");
        };
        part.column(self.of, [](CollectorVerdict verdict) { return verdict <= CollectorVerdict::dies; });
        part.require(self.of.size() == objects, "not every object has a verdict");
        for (auto* tally : {&self.collectable, &self.uncollectable, &self.frozen_garbage, &self.doubtful}) {
            part.number(tally->count);
            part.number(tally->size);
        }
        for (auto* number : {&self.frozen, &self.freed_count, &self.freed_bytes})
            part.number(*number);
        part.list(self.finalizers, id);
        part.list(self.short_of_counts, id);
        part.number(self.certain);
    }

    bool over_released(ObjectId object) const {
        return std::binary_search(short_of_counts.begin(), short_of_counts.end(), object);
    }
    bool found(ObjectId object) const {
        return of[object] == CollectorVerdict::collectable || of[object] == CollectorVerdict::doubtful ||
               of[object] == CollectorVerdict::uncollectable;
    }
};

/// Replays all interpreters at once; the heap must have its references. Memory: 6 bytes per object, and while
/// it works 13 more, and 4 per reference. Time: some 100 to 200 ns per tracked object.
Collection replay_collector(const HeapReader& heap, const ProgressCallback& progress = {});

/// Calls `visit` with each object that reference counts alone free when the objects in `freed`, and then
/// those that die, release all that they refer to. Not with those in `freed`, nor with immortal ones. Cost:
/// linear in the objects freed. Refers to the heap: use it within one call.
class DyingByCounts {
public:
    explicit DyingByCounts(const HeapReader& heap);
    void run(std::span<const ObjectId> freed, const std::function<void(ObjectId)>& visit);

private:
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    std::vector<std::uint32_t> taken_;  // by object: references released in this run
    std::vector<ObjectId> touched_;
};

/// Which types have finalizers; by TypeId.
struct FinalizerSlots {
    explicit FinalizerSlots(const HeapReader& heap);
    std::vector<bool> legacy;  // tp_del, as every __del__ of a class is up to 3.3
    /// Whether the collector leaves the object, of this type, alone: by its type or, in 2.7, by its old-style class, or
    /// because it is a generator that is inside a try statement.
    bool has_legacy(ObjectId object, TypeId type) const {
        return legacy[type] || std::binary_search(old_.begin(), old_.end(), object);
    }
    std::vector<bool> modern;  // tp_finalize, as every __del__ since 3.4 is

private:
    std::vector<ObjectId> old_;  // by id
};

}  // namespace heapsift
