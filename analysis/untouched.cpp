// numpy.zeros asks for memory and touches none of it: the kernel gives a page when something is written there. Such an
// array's size is what the program asked for, and it counts as the array's memory in every table. But it is none of the
// memory in use, so it explains nothing of it: a first screen that ranks holders by what they cost leaves it out, and
// says so.
//
// Only buffers that can lie in a mapping of their own are worth the look: malloc asks the kernel for one from 128 KiB
// on (DEFAULT_MMAP_THRESHOLD, malloc.c of glibc), and at times not until 32 MiB. Where the core does not tell, a page
// of zeros counts as untouched in elements of arrays alone, as in the table of memory (regions.cpp).

#include "analysis/untouched.h"

#include "parsers/cpython/object_kind.h"
#include "parsers/cpython/python_heap.h"
#include "parsers/elf/core_file.h"
#include "parsers/snapshot/untouched_memory.h"

#include <algorithm>
#include <optional>

namespace heapsift {
namespace {

constexpr std::uint64_t least_buffer = 512 << 10;
constexpr std::size_t most_large_objects = 10'000;

std::uint64_t bytes_of_ranges(const std::vector<AddressRange>& ranges, const AddressRange& in) {
    auto at = std::partition_point(ranges.begin(), ranges.end(),
                                   [&](const AddressRange& range) { return range.end <= in.start; });
    std::uint64_t bytes = 0;
    for (; at != ranges.end() && at->start < in.end; ++at)
        bytes += std::min(at->end, in.end) - std::max(at->start, in.start);
    return bytes;
}

/// Sums what was never touched in the buffers of one object after another.
class UntouchedSum final : public BufferVisitor {
public:
    explicit UntouchedSum(const CoreFile& core) : memory_(untouched_memory(core)) {}

    void visit(Address start, std::uint64_t bytes, bool array_data) override {
        if (bytes < least_buffer || start.value + bytes < start.value) return;
        const AddressRange buffer{start, start + bytes};
        sum_ += bytes_of_ranges(memory_.never, buffer);
        if (array_data) sum_ += bytes_of_ranges(memory_.zeros, buffer);
    }
    std::uint64_t take() { return std::exchange(sum_, 0); }

private:
    const UntouchedMemory memory_;
    std::uint64_t sum_ = 0;
};

}  // namespace

UntouchedBuffers::UntouchedBuffers(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    std::optional<UntouchedSum> sum;
    columns.sizes->visit_listed([&](std::uint32_t at, const ObjectSizes& sizes) {
        const ObjectId object{at};
        if (sizes.memory < least_buffer || sizes.damaged || columns.type_of(object) == no_type) return;
        const TypeInfo& type = columns.type_info(object);
        if (!type.kind || !type.kind->visit_buffers) return;
        if (!sum) sum.emplace(heap.core());
        type.kind->visit_buffers(ObjectReader(heap.python_heap(), columns.address_of(object), type), *sum);
        if (const std::uint64_t bytes = std::min(sum->take(), sizes.memory); bytes > 0)
            objects_.emplace_back(object, bytes);
    });
    std::sort(objects_.begin(), objects_.end(),
              [](const auto& a, const auto& b) { return a.second > b.second; });
    if (objects_.size() > most_large_objects) objects_.resize(most_large_objects);
}

std::uint64_t UntouchedBuffers::below(const RetainedLookup& retained, NodeId node) const {
    std::uint64_t bytes = 0;
    for (const auto& [object, untouched] : objects_)
        if (HeapGraph::node_of(object) == node || retained.dominates(node, HeapGraph::node_of(object)))
            bytes += untouched;
    return std::min(bytes, retained.memory(node));
}

}  // namespace heapsift
