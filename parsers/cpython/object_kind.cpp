#include "parsers/cpython/object_kind.h"

// Checked access to the fields of one object. A count from the core is believed only as far as there is
// memory for it.

#include <algorithm>

namespace heapsift {

std::uint64_t ObjectReader::readable_items(Address items, std::int64_t count) const {
    if (count <= 0 || items.is_null()) return 0;
    const auto wanted = std::min(static_cast<std::uint64_t>(count), most_items_);
    const Segment* segment = heap_->memory().find(items);
    if (!segment || !segment->data) return 0;
    std::uint64_t there = (segment->end() - items) / 8;
    // Rarely, an array continues in the next segments, if they touch.
    while (there < wanted) {
        const Segment* next = heap_->memory().find(segment->end());
        if (!next || !next->data) break;
        segment = next;
        there = (segment->end() - items) / 8;
    }
    return std::min(wanted, there);
}

std::uint64_t basic_size(const ObjectReader& object) {
    const TypeInfo& type = object.type();
    if (type.itemsize <= 0) return type.basicsize;
    const std::int64_t count = object.var_size();
    const std::uint64_t items =
        count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
    // An absurd count gives an absurd size, but does not wrap; callers compare it with the block.
    return type.basicsize +
           std::min(items, std::uint64_t{1} << 38) * static_cast<std::uint64_t>(type.itemsize);
}

}  // namespace heapsift
