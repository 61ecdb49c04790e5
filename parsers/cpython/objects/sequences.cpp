// list: a header and one array of item pointers in a block of its own. tuple: the items follow the header. (listobject.h,
// tupleobject.h) Named tuples and the like are tuples; a struct sequence shows only its visible fields in ob_size.

#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

/// Of the array of items; an absurd number stays one, and does not wrap. (-1: list.sort() is at work, as sys.getsizeof has it.)
std::uint64_t array_bytes(const ObjectReader& object) {
    const auto allocated = object.integer<std::int64_t>(object.layout().list.allocated);
    if (allocated < 0) return 8 * static_cast<std::uint64_t>(allocated);
    return 8 * std::min(static_cast<std::uint64_t>(allocated), std::uint64_t{1} << 58);
}

std::uint64_t list_size(const ObjectReader& object) { return object.type().basicsize + array_bytes(object); }

void list_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const Address items = object.pointer(object.layout().list.ob_item);
    if (!items.is_null()) visit.visit(items, array_bytes(object), false);
}

bool list_reads(const ObjectReader& object) {
    const std::int64_t count = object.var_size();
    const auto allocated = object.integer<std::int64_t>(object.layout().list.allocated);
    const Address items = object.pointer(object.layout().list.ob_item);
    if (allocated == -1) return items.is_null();  // list.sort() is at work on it
    return count >= 0 && count <= allocated && allocated <= (std::int64_t{1} << 48) && (count == 0 || !items.is_null());
}

void list_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Address items = object.pointer(object.layout().list.ob_item);
    const std::uint64_t count = object.readable_items(items, object.var_size());
    for (std::uint64_t i = 0; i < count; ++i) visit.indexed(object.heap().pointer(items + 8 * i), i);
}

ShortValue list_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::summary, fmt::format("list of {}", std::max<std::int64_t>(object.var_size(), 0)), 0};
}

void tuple_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Address items = object.at(*object.layout().tuple.ob_item);
    const std::uint64_t count = object.readable_items(items, object.var_size());
    for (std::uint64_t i = 0; i < count; ++i) visit.indexed(object.heap().pointer(items + 8 * i), i);
}

bool tuple_plausible(const ObjectReader& object) {
    const std::int64_t count = object.var_size();
    if (count < 0 || count > (std::int64_t{1} << 40)) return false;
    const Address items = object.at(*object.layout().tuple.ob_item);
    if (object.readable_items(items, count) != static_cast<std::uint64_t>(count)) return false;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 16); ++i) {
        const Address item = object.heap().pointer(items + 8 * static_cast<std::uint64_t>(i));
        if (!item.is_null() && object.heap().type_of(item) == no_type) return false;
    }
    return true;
}

bool tuple_reads(const ObjectReader& object) {
    const std::int64_t count = object.var_size();
    return count >= 0 && count <= (std::int64_t{1} << 48);
}

ShortValue tuple_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::summary, fmt::format("tuple of {}", std::max<std::int64_t>(object.var_size(), 0)), 0};
}

constexpr const char* list_names[] = {"list"};
constexpr const char* tuple_names[] = {"tuple"};

}  // namespace

const ObjectKind list_kind = {.name = "list",
                              .type_names = list_names,
                              .size = list_size,
                              .visit_buffers = list_buffers,
                              .visit_references = list_references,
                              .describe = list_describe,
                              .reads = list_reads};
const ObjectKind tuple_kind = {.name = "tuple",
                               .type_names = tuple_names,
                               .visit_references = tuple_references,
                               .describe = tuple_describe,
                               .plausible = tuple_plausible,
                               .reads = tuple_reads};

}  // namespace heapsift
