// A container grows as it is filled and does not shrink as it is emptied: a dict keeps its table until an
// insertion finds it full, a set likewise, a list gives room back only below half, a bytearray hardly. What a
// copy would take is computed as CPython does:
//
//     list       as many pointers as items (list_slice, listobject.c)
//     dict       the smallest table, of a power of two slots and at least 8, of which two thirds hold all
//                entries; a slot has an index of 1, 2, 4 or 8 bytes (dictobject.c, 3.6 to 3.14)
//     set        the smallest power of two above twice the items; up to four items lie in the object
//                (set_table_resize, setobject.c)
//     bytearray  its bytes and a NUL

#include "analysis/spare_room.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::uint64_t largest_small_block = 512, alignment = 16, before_chunk = 8;
constexpr std::uint64_t most_believed = std::uint64_t{1} << 40;
constexpr std::uint64_t smallest_table = 8, set_slot = 16, most_in_small_set = 4;

std::uint64_t index_bytes(std::uint64_t slots) {
    const std::uint64_t each = slots <= 0xff ? 1 : slots <= 0xffff ? 2 : slots <= 0xffffffff ? 4 : 8;
    return slots * each;
}

std::uint64_t table_for(std::uint64_t entries) {
    std::uint64_t slots = smallest_table;
    while (slots * 2 / 3 < entries) slots *= 2;
    return slots;
}

SpareRoom spare(SpareKind kind, std::uint64_t now, std::uint64_t needed) {
    return {kind, block_bytes(now), block_bytes(needed)};
}

std::optional<SpareRoom> list_room(const ObjectReader& object) {
    const std::int64_t items = object.var_size();
    const auto allocated = object.integer<std::int64_t>(object.layout().list.allocated);
    if (items < 0 || allocated < items || static_cast<std::uint64_t>(allocated) > most_believed)
        return std::nullopt;
    const std::uint64_t before = object.layout().list_array.ob_item.or_else(0);
    return spare(SpareKind::list, allocated == 0 ? 0 : before + 8 * static_cast<std::uint64_t>(allocated),
                 items == 0 ? 0 : before + 8 * static_cast<std::uint64_t>(items));
}

std::optional<SpareRoom> dict_room(const ObjectReader& object) {
    if (object.layout().dict.ma_table.present()) return std::nullopt;  // 2.7
    const auto& facts = object.dict();
    if (!facts || !facts->values.is_null() || facts->keys_refcount != 1 || facts->keys_size > most_believed ||
        facts->used > facts->entry_count || facts->capacity > most_believed)
        return std::nullopt;
    const std::uint64_t slots = table_for(facts->capacity);
    const std::uint64_t table = index_bytes(slots) + facts->capacity * facts->entry_size;
    if (facts->keys_size < table) return std::nullopt;
    const std::uint64_t header = facts->keys_size - table, fewer = table_for(facts->used);
    const std::uint64_t needed = header + index_bytes(fewer) + fewer * 2 / 3 * facts->entry_size;
    return spare(SpareKind::dict, facts->keys_size,
                 facts->used == 0 ? 0 : std::min(needed, facts->keys_size));
}

std::optional<SpareRoom> set_room(const ObjectReader& object) {
    const auto& l = object.layout().set;
    const auto used = object.integer<std::uint64_t>(l.used), mask = object.integer<std::uint64_t>(l.mask);
    if (mask > most_believed || used > mask || object.pointer(l.table) == object.at(*l.smalltable))
        return std::nullopt;
    std::uint64_t slots = smallest_table;
    while (slots <= 2 * used) slots *= 2;
    if (used <= most_in_small_set) slots = 0;
    return spare(SpareKind::set, (mask + 1) * set_slot, std::min(slots, mask + 1) * set_slot);
}

std::optional<SpareRoom> bytearray_room(const ObjectReader& object) {
    const std::int64_t size = object.var_size();
    const auto allocated = object.integer<std::uint64_t>(object.layout().bytearray.ob_alloc);
    if (size < 0 || allocated > std::uint64_t{1} << 48 || static_cast<std::uint64_t>(size) >= allocated)
        return std::nullopt;
    return spare(SpareKind::bytearray, allocated, size == 0 ? 0 : static_cast<std::uint64_t>(size) + 1);
}

}  // namespace

std::uint64_t block_bytes(std::uint64_t bytes) {
    if (bytes == 0) return 0;
    if (bytes <= largest_small_block) return (bytes + alignment - 1) / alignment * alignment;
    return (bytes + before_chunk + alignment - 1) / alignment * alignment - before_chunk;
}

std::optional<SpareRoom> spare_room(const ObjectReader& object) {
    std::optional<SpareRoom> found;
    std::uint64_t share = 2;
    switch (object.type().known) {
        case KnownType::list:
            found = list_room(object);
            break;
        case KnownType::dict:
        case KnownType::default_dict:
            found = dict_room(object);
            break;
        case KnownType::set:
            found = set_room(object);
            share = 4;
            break;
        case KnownType::bytearray:
            found = bytearray_room(object);
            break;
        default:
            break;
    }
    if (!found || found->now == 0 || found->needed * share > found->now) return std::nullopt;
    return found;
}

}  // namespace heapsift
