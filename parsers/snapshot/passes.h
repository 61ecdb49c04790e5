#pragma once

// How a heap is found: a sequence of passes. Each reads what came before it, leaves that unchanged, and fills
// a column. (passes.cpp is the page that lists them.)

#include "parsers/base/diagnostics.h"
#include "parsers/base/progress.h"
#include "parsers/index/index_file.h"
#include "parsers/snapshot/heap_snapshot.h"
#include "parsers/snapshot/learned_facts.h"
#include "parsers/snapshot/object_access.h"

#include <memory>

namespace heapsift {

/// What the passes read, and later whoever asks for the bytes of single objects: a core and what its parsers
/// know about it. `python` refers to the runtime and the types of the snapshot that it was found with, so
/// that snapshot must stay where it is; the others refer to `core` and to each other.
struct HeapSources {
    explicit HeapSources(CoreFile c) : core(std::move(c)) {}
    HeapSources(const HeapSources&) = delete;
    HeapSources& operator=(const HeapSources&) = delete;

    CoreFile core;
    std::size_t runtime = 0;     // which of the process's (find_python_runtime); 0: the first
    IndexFile* index = nullptr;  // columns that it has are not computed; null: none
    std::unique_ptr<PythonHeap> python;
    std::unique_ptr<Allocations> allocations;
    std::unique_ptr<ObjectAccess> access;
    KeptLayout layout;
    LearnedFacts learned;
    Diagnostics odd_of_pools, odd_of_objects;  // told already
};

/// The first part of the page: the runtime, the types and all objects. Throws `Error` (exit 1) if there is no
/// CPython, or none that is supported. Each pass reports its name to `progress`, which times it by that.
void find_heap(HeapSources& sources, HeapSnapshot& heap, Diagnostics& diagnostics,
               const ProgressCallback& progress = {});

struct ColumnWishes {
    Columns columns;
    bool hide_thread_names = false;  // the program stored them
};

/// The second part: those of the columns asked for that `heap` does not have yet. Sizes and memory together
/// cost one pass over the objects; references share that pass if they are asked for in the same call.
void add_columns(const HeapSources& sources, HeapSnapshot& heap, const ColumnWishes& wishes,
                 const ProgressCallback& progress = {});

}  // namespace heapsift
