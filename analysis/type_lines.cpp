// Objects are in the order of their addresses. With the traced blocks in the same order, both are walked once, side by
// side: the block of an object is the last one that begins at or before it.

#include "analysis/type_lines.h"

#include "analysis/traced_lines.h"
#include "parsers/snapshot/size_column.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace heapsift {
namespace {

struct TypeLineSums {
    TypeId type = no_type;
    std::uint32_t traceback = 0;
    std::uint64_t count = 0, size = 0, memory = 0, largest_memory = 0;
    ObjectId largest = no_object;
};

/// Walks blocks beside ascending addresses.
class BlockCursor {
public:
    explicit BlockCursor(std::vector<TracedBlock>& blocks) : blocks_(blocks) { keep_python_blocks(blocks_); }

    /// The block that holds `address`, or null. Never an address below the last one.
    const TracedBlock* at(Address address) {
        while (next_ < blocks_.size() && blocks_[next_].start <= address) ++next_;
        if (next_ == 0) return nullptr;
        const TracedBlock& block = blocks_[next_ - 1];
        return address - block.start < block.size ? &block : nullptr;
    }

private:
    std::vector<TracedBlock>& blocks_;
    std::size_t next_ = 0;
};

std::uint64_t number_of(const TypeLineRow& row, SortKey sort) {
    switch (sort) {
        case SortKey::size:
            return row.size;
        case SortKey::count:
            return row.count;
        case SortKey::name:
            return 0;
        case SortKey::memory:
        case SortKey::array_data:
        case SortKey::retained:
            break;
    }
    return row.memory;
}

bool row_before(const TypeLineRow& a, const TypeLineRow& b, SortKey sort) {
    const std::uint64_t number_a = number_of(a, sort), number_b = number_of(b, sort);
    if (number_a != number_b) return number_a > number_b;
    if (sort != SortKey::name && a.memory != b.memory) return a.memory > b.memory;
    return std::tie(a.type, a.line.file, a.line.line, a.type_address) <
           std::tie(b.type, b.line.file, b.line.line, b.type_address);
}

}  // namespace

TypeLinesResult type_lines(const HeapReader& heap, TracedMemory traced, const std::vector<TypeId>& wanted,
                           SortKey sort, std::size_t limit) {
    TypeLinesResult result{.available = traced.available, .tracing = traced.tracing};
    const HeapSnapshot& columns = heap.snapshot();
    const SizeColumn& sizes = *columns.sizes;
    std::vector<bool> asked(columns.types.size(), wanted.empty());
    for (const TypeId type : wanted) asked[type] = true;
    const std::vector<std::uint32_t> alike = alike_tracebacks(traced, 1);
    BlockCursor cursor(traced.blocks);
    std::unordered_map<std::uint64_t, TypeLineSums> groups;
    for (ObjectId object{0}; object < columns.object_count(); ++object) {
        const TypeId type = columns.type_of(object);
        if (type == no_type || !asked[type]) continue;
        const ObjectSizes facts = sizes[object];
        const TracedBlock* block = cursor.at(columns.address_of(object));
        if (!block) {
            ++result.untraced_count;
            result.untraced_memory += facts.memory;
            continue;
        }
        const std::uint32_t traceback = alike[block->traceback];
        TypeLineSums& sums = groups[std::uint64_t{std::uint32_t{type}} << 32 | traceback];
        sums.type = type;
        sums.traceback = traceback;
        ++sums.count;
        sums.size += facts.size;
        sums.memory += facts.memory;
        if (sums.largest == no_object || facts.memory > sums.largest_memory) {
            sums.largest = object;
            sums.largest_memory = facts.memory;
        }
    }
    for (const auto& [key, sums] : groups) {
        result.rows.push_back({.type = type_name(columns.types, sums.type),
                               .type_address = columns.types[sums.type].address,
                               .line = source_lines(traced, sums.traceback, 1).front(),
                               .count = sums.count,
                               .size = sums.size,
                               .memory = sums.memory,
                               .largest = columns.address_of(sums.largest)});
        result.total_count += sums.count;
        result.total_size += sums.size;
        result.total_memory += sums.memory;
    }
    result.total_rows = result.rows.size();
    std::sort(result.rows.begin(), result.rows.end(),
              [&](const TypeLineRow& a, const TypeLineRow& b) { return row_before(a, b, sort); });
    if (limit != 0 && result.rows.size() > limit) result.rows.resize(limit);
    for (const TypeLineRow& row : result.rows) result.shown_memory += row.memory;
    return result;
}

}  // namespace heapsift
