#include "parsers/snapshot/left_out_mappings.h"

// An array whose data was excluded from dumping (MADV_DONTDUMP, a coredump filter) still has its size, and
// held the memory. The kernel writes a program header without bytes for such a mapping. gcore writes none, so
// the array seems to claim memory that the process did not have. Two things tell it from an overwritten
// array:
//   - if the page with malloc's header was saved, the header says how long the mapping is, and the array
//     fills it;
//   - if nothing was saved, all of the data lies in one gap between the segments (except for its last page,
//     which may be shared).
// Both apply only from the size on at which malloc maps memory: smaller data lies in heaps, which are never
// left out completely.

#include "parsers/cpython/objects/kinds.h"
#include "parsers/elf/bytes.h"
#include "parsers/numpy/kinds.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t least_mapping = 128 * 1024;  // M_MMAP_THRESHOLD
constexpr std::uint64_t most_spare = 2 * page_bytes;
constexpr Address end_of_process(0x7ffffffff000);

struct FindLeftOut : BufferVisitor {
    FindLeftOut(const AddressSpace& m, const MallocHeaps& h) : memory(m), heaps(h) {}

    void visit(Address start, std::uint64_t bytes, bool is_array) override {
        if (!is_array || bytes < least_mapping || start >= end_of_process || bytes > end_of_process - start)
            return;
        if (memory.mapped_bytes(start, bytes) == bytes) return;
        const auto range = memory.find(start) ? by_header(start, bytes) : by_gap(start, bytes);
        if (range) found.push_back(*range);
    }

    std::optional<AddressRange> by_header(Address start, std::uint64_t bytes) const {
        const auto range = heaps.mapping_by_header(start);
        if (!range || range->end > end_of_process || range->end - start < bytes ||
            range->end - start - bytes > most_spare)
            return std::nullopt;
        return range;
    }

    std::optional<AddressRange> by_gap(Address start, std::uint64_t bytes) const {
        if (!start.aligned(16)) return std::nullopt;
        const auto segments = memory.segments();
        const auto next = std::upper_bound(segments.begin(), segments.end(), start,
                                           [](Address a, const Segment& s) { return a < s.start; });
        const std::uint64_t last_page = page_start(start.value + bytes - 1);
        if (next != segments.end() && next->start.value < last_page) return std::nullopt;
        return AddressRange{Address(page_start(start.value)), Address(last_page + page_bytes)};
    }

    const AddressSpace& memory;
    const MallocHeaps& heaps;
    std::vector<AddressRange> found;
};

}  // namespace

std::vector<AddressRange> left_out_mappings(const CoreFile& core, const FoundObjects& objects,
                                            const ObjectAccess& access) {
    if (!core.process().from_gcore) return {};
    FindLeftOut left_out(core.memory(), access.allocations().malloc_heaps());
    const TypeTable& types = access.heap().types();
    for (std::size_t i = 0; i < objects.addresses.size(); ++i) {
        const TypeInfo& type = types[objects.types[i]];
        if (type.kind == &ndarray_kind || type.kind == &array_kind)
            type.kind->visit_buffers(ObjectReader(access.heap(), objects.addresses[i], type), left_out);
    }
    return std::move(left_out.found);
}

}  // namespace heapsift
