#pragma once

// A pass over all objects of a heap that reports its progress.

#include "parsers/base/progress.h"
#include "parsers/snapshot/heap_snapshot.h"

#include <string_view>

namespace heapsift {

template <class Visit>
void for_each_object(const HeapSnapshot& heap, std::string_view pass, const ProgressCallback& progress,
                     Visit visit) {
    constexpr std::size_t stride = 1 << 16;
    const std::size_t count = heap.object_count();
    for (std::size_t i = 0; i < count; ++i) {
        if (progress && i % stride == 0) progress(pass, static_cast<double>(i) / static_cast<double>(count));
        visit(static_cast<ObjectId>(i));
    }
}

}  // namespace heapsift
