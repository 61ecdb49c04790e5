// set, frozenset: a table of {key, hash} (2.7: {hash, key}), which is inside the object up to eight slots. A deleted slot holds
// a dummy object. (setobject.h)

#include "parsers/cpython/build/quirks.h"
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

/// What is in a deleted slot: since 3.3 with the hash -1, which no object has. 2.7 leaves the hash of what was deleted,
/// and its dummy is a str whose own hash is another, or was never asked for.
bool is_dummy(const ObjectReader& object, Address key, std::int64_t hash) {
    const PythonHeap& heap = object.heap();
    if (!heap.layout().bytes.ob_sstate.present()) return hash == -1;
    return heap.types().is(heap.type_of(key), KnownType::bytes) && heap.unicode_equals(key, "<dummy key>") &&
           heap.integer<std::int64_t>(key + *heap.layout().var_object.size) != hash;
}

void set_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const std::uint64_t key_at = key_in_set_slot(object.layout()), hash_at = slot_size / 2 - key_at;
    const Address table = object.pointer(object.layout().set.table);
    const std::uint64_t count =
        object.readable_items(table, static_cast<std::int64_t>(slots(object) * 2)) / 2;
    for (std::uint64_t i = 0; i < count; ++i) {
        const Address slot = table + i * slot_size;
        const Address key = object.heap().pointer(slot + key_at);
        if (key.is_null()) continue;
        if (is_dummy(object, key, object.heap().integer<std::int64_t>(slot + hash_at)))
            // 2.7 counts it, as dicts do.
            visit.named(key_at > 0 ? key : Address(), ".<deleted>", ReferenceKind::hidden);
        else
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
