#pragma once

// The state of the collector, and what it would do next.

#include "analysis/collector.h"
#include "analysis/kept_answers.h"
#include "analysis/object_row.h"
#include "parsers/cpython/gc_state.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct GcInterpreter {
    std::int64_t id = 0;
    std::optional<GcState> state;  // nothing if it cannot be read
    std::vector<ObjectRow> garbage, callbacks;
    std::uint64_t garbage_count = 0;  // all of them
    CollectorTally collectable, uncollectable, frozen_garbage, doubtful;
    std::uint64_t freed_count = 0, freed_bytes = 0;
};

struct GcFinalizer {
    std::string type;
    std::uint64_t count = 0;  // of its instances that would be found, with a finalizer that has not run
};

struct GcResult {
    std::vector<GcInterpreter> interpreters;
    std::vector<GcFinalizer> finalizers;  // most first
    bool certain = true;
    std::vector<ObjectId> found;    // what a collection would find, by id, cut to the limit; only with `list`
    std::uint64_t found_count = 0;  // without the limit
};

/// `limit`: how many objects of gc.garbage become rows, and how many of `found` are listed; 0: all.
/// `answers` may be null, and `replayed` too: then the collector is replayed.
GcResult gc(const HeapReader& heap, std::size_t limit, bool list, const ProgressCallback& progress = {},
            KeptAnswers* answers = nullptr, const Collection* replayed = nullptr);

}  // namespace heapsift
