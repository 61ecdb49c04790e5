#include "analysis/memory.h"

#include <algorithm>

namespace heapsift {

MemoryResult memory(const HeapReader& heap, bool mappings) {
    const MemoryRows& memory = *heap.snapshot().memory;
    MemoryResult result;
    result.mapped = heap.core().extent().mapped_bytes;
    result.in_core = heap.core().extent().in_core_bytes;
    result.in_use = memory.bytes_of(MemoryUse::in_use);
    result.reserved = memory.bytes_of(MemoryUse::reserved);
    result.rows = memory.rows;
    result.allocators = memory.allocators;
    result.culprit = native_culprit(heap);
    result.overlaps = memory.overlaps;
    if (!mappings) return result;
    for (const MappingRow& row : memory.mappings) result.mappings.push_back({row, ""});
    for (const MappedFile& file : heap.core().mapped_files()) {
        auto row =
            std::lower_bound(result.mappings.begin(), result.mappings.end(), file.range.start,
                             [](const MappingWithFile& r, Address a) { return r.mapping.range.end <= a; });
        for (; row != result.mappings.end() && row->mapping.range.start < file.range.end; ++row)
            row->file = file.path;
    }
    return result;
}

}  // namespace heapsift
