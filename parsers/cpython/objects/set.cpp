// set, frozenset: a table of {key, hash}, which is inside the object up to eight slots. A deleted slot holds
// a dummy object. (setobject.h)

#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t slot_size = 16;

bool external_table(const ObjectReader& object) {
    return object.pointer(object.layout().set.table) != object.at(*object.layout().set.smalltable);
}

std::uint64_t slots(const ObjectReader& object) {
    const auto mask = object.integer<std::int64_t>(object.layout().set.mask);
    return mask < 0 || mask > (std::int64_t{1} << 40) ? 0 : static_cast<std::uint64_t>(mask) + 1;
}

std::uint64_t set_size(const ObjectReader& object) {
    return object.type().basicsize + (external_table(object) ? slots(object) * slot_size : 0);
}

void set_buffers(const ObjectReader& object, BufferVisitor& visit) {
    if (external_table(object))
        visit.visit(object.pointer(object.layout().set.table), slots(object) * slot_size, false);
}

void set_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Address table = object.pointer(object.layout().set.table);
    const std::uint64_t count =
        object.readable_items(table, static_cast<std::int64_t>(slots(object) * 2)) / 2;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Address key = object.heap().pointer(table + i * slot_size);
        // A dummy has the hash -1, which no object has.
        if (!key.is_null() && object.heap().integer<std::int64_t>(table + i * slot_size + 8) != -1)
            visit.visit(key, ReferenceKind::strong, {ReferenceName::Form::key, "", 0, key});
    }
}

ShortValue set_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::summary,
            fmt::format("set of {}", object.integer<std::uint64_t>(object.layout().set.used)), 0};
}

constexpr const char* set_names[] = {"set", "frozenset"};

}  // namespace

const ObjectKind set_kind = {.name = "set",
                             .type_names = set_names,
                             .size = set_size,
                             .visit_buffers = set_buffers,
                             .visit_references = set_references,
                             .describe = set_describe};

}  // namespace heapsift
