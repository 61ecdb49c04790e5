#include "parsers/snapshot/data_blocks.h"

#include "parsers/cpython/objects/kinds.h"
#include "parsers/numpy/array_layout.h"
#include "parsers/numpy/kinds.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t most_spare = 32;  // bytes that an allocator gives beyond what it is asked for

}  // namespace

DataBlocks::DataBlocks(const ObjectAccess& access) : access_(access) {
    for (const TypeInfo& type : access.heap().types())
        types_.push_back(type.kind && (type.kind == &ndarray_kind || type.kind->buffers_of_data));
}

const std::vector<DataBlocks::Data>& DataBlocks::data_of(Address object, TypeId id) {
    struct Collector : BufferVisitor {
        explicit Collector(std::vector<Data>& d) : data(d) {}
        void visit(Address start, std::uint64_t bytes, bool) override { data.push_back({start, bytes}); }
        std::vector<Data>& data;
    } collector(data_);
    data_.clear();
    const TypeInfo& type = access_.heap().types()[id];
    const ObjectReader reader(access_.heap(), object, type);
    if (type.kind == &ndarray_kind) {
        if (const auto facts = array_facts(reader); facts && facts->owns_data())
            data_.push_back({facts->data, facts->nbytes});
    } else {
        type.kind->visit_buffers(reader, collector);
        // A text is written up to its end: of what was there before, a type remains only behind a single word. Most
        // texts are longer, and need not be looked at again.
        if (type.kind == &old_unicode_kind)
            std::erase_if(data_,
                          [&](const Data& d) { return d.bytes > *access_.heap().layout().object.ob_type; });
    }
    return data_;
}

bool DataBlocks::fits(Address start, std::uint64_t bytes) const {
    const auto block = access_.allocations().block_starting_at(start);
    return block && block->usable >= bytes && block->usable - bytes < most_spare;
}

void DataBlocks::sort() {
    std::sort(starts_.begin(), starts_.end());
    starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
}

bool DataBlocks::contains(Address start) const {
    return std::binary_search(starts_.begin(), starts_.end(), start);
}

}  // namespace heapsift
