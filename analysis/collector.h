#pragma once

// What gc.collect() would have found at the moment of the dump: the collector, replayed. (How:
// collector.cpp.)

#include "parsers/reading/heap_reader.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace heapsift {

enum class CollectorVerdict : std::uint8_t {
    not_known,       // not tracked, or immortal: the collector does not look at it
    kept,            // something outside of its sight refers to it
    frozen,          // put aside by gc.freeze(): to the collector it is something outside
    collectable,     // it would be found, and freed
    uncollectable,   // it would be found, but a legacy finalizer stands in the way, its own or that of what
                     // leads to it
    frozen_garbage,  // it would be found, had gc.freeze() not put it, or what leads to it, aside
    doubtful,        // it would be found if traverse reports what is guessed
    dies             // not found by the collector: it goes when what holds it is freed
};

struct CollectorTally {
    std::uint64_t count = 0, size = 0;
};

struct Collection {
    std::vector<CollectorVerdict> of;  // by object
    CollectorTally collectable, uncollectable, frozen_garbage, doubtful;
    std::uint64_t tracked = 0, frozen = 0;  // objects
    std::uint64_t freed_count = 0,
                  freed_bytes = 0;  // the collectable, and what dies with them: ObjectSizes::memory
    /// Of the collectable, those with a finalizer that has not run: it could keep them, and what they lead
    /// to. By id.
    std::vector<ObjectId> finalizers;
    /// Tracked ones to which more references are reported than they count, by id: released once too often.
    std::vector<ObjectId> short_of_counts;
    /// False where guesses decide, or a collection was under way.
    bool certain = true;

    bool over_released(ObjectId object) const {
        return std::binary_search(short_of_counts.begin(), short_of_counts.end(), object);
    }
    bool found(ObjectId object) const {
        return of[object] == CollectorVerdict::collectable || of[object] == CollectorVerdict::uncollectable;
    }
};

/// Of all interpreters at once, in a heap with references. 6 bytes an object, 13 more and 4
/// for each reference while it works; some 100 to 200 ns for each object that is tracked.
Collection replay_collector(const HeapReader& heap, const ProgressCallback& progress = {});

/// Calls `visit` with each object that is freed by reference counts alone when those in `freed`, and what
/// dies by it, let go of all that they refer to; those in `freed` are left out, and so are immortal ones. Its
/// cost is theirs. It refers to the heap: for the time of one call.
class DyingByCounts {
public:
    explicit DyingByCounts(const HeapReader& heap);
    void run(std::span<const ObjectId> freed, const std::function<void(ObjectId)>& visit);

private:
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    std::vector<std::uint32_t> taken_;  // by object: references that went, in this run
    std::vector<ObjectId> touched_;
};

/// What the types of a heap have by way of finalizers; by TypeId.
struct FinalizerSlots {
    explicit FinalizerSlots(const HeapReader& heap);
    std::vector<bool> legacy;  // tp_del
    std::vector<bool> modern;  // tp_finalize, as every __del__ since 3.4 is
};

}  // namespace heapsift
