#pragma once

// How a heap is found: a page of passes, each of which reads what came before it, leaves that alone, and gives
// a column. (passes.cpp is the page.)

#include "parsers/base/diagnostics.h"
#include "parsers/base/progress.h"
#include "parsers/snapshot/heap_snapshot.h"
#include "parsers/snapshot/object_access.h"

#include <memory>

namespace heapsift {

/// What the passes read, and later whoever asks for the bytes of single objects: a core, and what its parsers
/// know of it. `python` refers to the runtime and the types of the snapshot that it was found with, which
/// therefore has to stay where it is; the others refer to `core` and to each other.
struct HeapSources {
    explicit HeapSources(CoreFile c) : core(std::move(c)) {}
    HeapSources(const HeapSources&) = delete;
    HeapSources& operator=(const HeapSources&) = delete;

    CoreFile core;
    std::unique_ptr<PythonHeap> python;
    std::unique_ptr<Allocations> allocations;
    std::unique_ptr<ObjectAccess> access;
};

/// The first part of the page: the runtime, the types and all objects. Throws `Error` (exit 1) where there is
/// no CPython, or none that is supported. Each pass tells `progress` its name, by which it is timed.
void find_heap(HeapSources& sources, HeapSnapshot& heap, Diagnostics& diagnostics,
               const ProgressCallback& progress = {});

struct ColumnWishes {
    Columns columns;
    bool hide_thread_names = false;  // they are what a program stored
};

/// The second part: of the columns asked for, those that `heap` does not have yet. Sizes and memory cost one
/// pass over the objects together, and references share it where they are asked for in the same call.
void add_columns(const HeapSources& sources, HeapSnapshot& heap, const ColumnWishes& wishes,
                 const ProgressCallback& progress = {});

}  // namespace heapsift
