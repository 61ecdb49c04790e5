// A list of a million floats is eight megabytes of pointers and twenty-four of floats; array.array('d') and
// NumPy have eight. Only numbers that nothing else refers to would go with the list: their reference count is
// 1. Small ints are static, one of each, and have no memory of their own.

#include "analysis/boxed_numbers.h"

#include "analysis/spare_room.h"
#include "parsers/cpython/python_heap.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t array_object = 80;  // array.array, with the words before it

/// Whether it is between -2**63 and 2**63 - 1, or nearly: digits have 30 bits.
bool fits_in_word(const PythonHeap& python, Address number) {
    if (python.c_long(number)) return true;
    const auto& l = python.layout();
    std::uint64_t digits = 0;
    if (l.long_.lv_tag.present()) {
        digits = python.integer<std::uint64_t>(number + *l.long_.lv_tag) >> 3;
    } else {
        const std::int64_t size = python.var_size(number);
        digits = size < 0 ? 0 - static_cast<std::uint64_t>(size) : static_cast<std::uint64_t>(size);
    }
    if (digits < 3) return true;
    return digits == 3 && python.integer<std::uint32_t>(number + *l.long_.ob_digit + 8) < 8;
}

}  // namespace

std::optional<BoxedNumbers> boxed_numbers(const HeapGraph& graph, ObjectId list) {
    const HeapSnapshot& columns = graph.columns();
    const auto items = graph.targets(list);
    if (items.size() < fewest_boxed_numbers || columns.type_of(items.front()) == no_type) return std::nullopt;
    const KnownType first = columns.type_info(items.front()).known;
    if (first != KnownType::floating && first != KnownType::integer && first != KnownType::boolean)
        return std::nullopt;
    const PythonHeap& python = graph.heap().python_heap();
    BoxedNumbers found;
    using Kind = BoxedNumbers::Kind;
    found.kind = first == KnownType::floating  ? Kind::floats
                 : first == KnownType::boolean ? Kind::bools
                                               : Kind::ints;
    found.count = items.size();
    found.now = columns.sizes->memory(list);
    const TypeId type = columns.type_of(items.front());
    for (const ObjectId item : items) {
        if (columns.type_of(item) != type) return std::nullopt;
        if (found.kind == Kind::bools) continue;  // there are two, and both stay
        const std::uint64_t memory = columns.sizes->memory(item);
        if (found.kind == Kind::ints && !fits_in_word(python, columns.address_of(item))) return std::nullopt;
        if (memory > 0 && graph.heap().collector_facts(item).refcount == 1) found.now += memory;
    }
    found.needed = array_object + block_bytes(found.kind == Kind::bools ? found.count : 8 * found.count);
    if (found.needed >= found.now) return std::nullopt;
    return found;
}

}  // namespace heapsift
