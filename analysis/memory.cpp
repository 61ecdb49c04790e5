#include "analysis/memory.h"

#include "parsers/libraries/library_objects.h"
#include "parsers/memory/region_map.h"
#include "parsers/snapshot/zeros_in_use.h"

#include <algorithm>
#include <string_view>

namespace heapsift {
namespace {

/// To find them, all saved bytes are read.
struct KeptZeros {
    std::uint64_t bytes = 0;

    std::size_t rows() const { return 1; }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        part.number(self.bytes);
        part.require(self.bytes <= heap.core().extent().mapped_bytes, "there are more zeros than memory");
    }
};

/// Instances of mmap.mmap and of its subclasses. One look at the type of each object, if there is such a type.
MemoryResult::MappedByObjects find_mapped_by_objects(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    const TypeTable& types = columns.types;
    std::vector<bool> maps(types.size());
    for (TypeId type{0}; type < types.size(); ++type)
        maps[type] = types.derives_from_named(type, {"mmap.mmap"});
    MemoryResult::MappedByObjects found;
    if (std::find(maps.begin(), maps.end(), true) == maps.end()) return found;
    std::vector<AddressRange> ranges;
    for (ObjectId object{0}; object < columns.object_count(); ++object) {
        const TypeId type = columns.type_of(object);
        if (type == no_type || !maps[type]) continue;
        const auto facts =
            library_facts(ObjectReader(heap.python_heap(), columns.address_of(object), types[type]));
        if (!facts || facts->kind != LibraryFacts::Kind::mapping) continue;
        ++found.objects;
        ranges.push_back({facts->data, facts->data + facts->bytes});
    }
    join_ranges(ranges);
    for (const AddressRange& range : ranges) found.bytes += range.size();
    return found;
}

}  // namespace

MemoryResult memory(const HeapReader& heap, bool mappings, std::size_t limit, KeptAnswers* answers) {
    const MemoryRows& memory = *heap.snapshot().memory;
    MemoryResult result;
    result.mapped = heap.core().extent().mapped_bytes;
    result.in_core = heap.core().extent().in_core_bytes;
    result.in_use = memory.bytes_of(MemoryUse::in_use);
    result.reserved = memory.bytes_of(MemoryUse::reserved);
    result.rows = memory.rows;
    result.allocators = memory.allocators;
    result.culprit = native_culprit(heap);
    result.mapped_by_objects = find_mapped_by_objects(heap);
    result.overlaps = memory.overlaps;
    result.zeros = kept_answer(answers, KeptQuestion("zeros"), heap, [&] {
                       return KeptZeros{zeros_in_use(heap.core(), memory.mappings)};
                   }).bytes;
    for (const MappingRow& row : memory.mappings) result.zero_blocks += row.shares[MemoryOwner::zero_blocks];
    result.sparse = {memory.sparse.arenas, memory.sparse.free_bytes, memory.sparse.blocks, {}};
    for (const SparseArenas::Type& type : memory.sparse.types)
        result.sparse.types.push_back({heap.snapshot().types[type.type].name, type.objects});
    if (!mappings) return result;
    for (const MappingRow& row : memory.mappings) result.mappings.push_back({row, ""});
    result.mapping_count = result.mappings.size();
    if (limit != 0 && result.mappings.size() > limit) {
        const auto size = [](const MappingWithFile& row) { return row.mapping.range.size(); };
        std::stable_sort(result.mappings.begin(), result.mappings.end(),
                         [&](const auto& a, const auto& b) { return size(a) > size(b); });
        result.mappings.resize(limit);
        std::sort(result.mappings.begin(), result.mappings.end(),
                  [](const auto& a, const auto& b) { return a.mapping.range.start < b.mapping.range.start; });
    }
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
