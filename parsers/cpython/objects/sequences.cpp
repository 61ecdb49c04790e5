// list: a header, and an array of item pointers in a separate block. tuple: the items follow the header.
// (listobject.h, tupleobject.h) Named tuples and the like are tuples; a struct sequence counts only its
// visible fields in ob_size.

#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

/// The size of the array of items. An absurd number stays absurd, but does not wrap. (-1: list.sort() is at
/// work; sys.getsizeof counts it too.)
std::uint64_t array_bytes(const ObjectReader& object) {
    const auto allocated = object.integer<std::int64_t>(object.layout().list.allocated);
    if (allocated < 0) return 8 * static_cast<std::uint64_t>(allocated);
    return 8 * std::min(static_cast<std::uint64_t>(allocated), std::uint64_t{1} << 58);
}

std::uint64_t list_size(const ObjectReader& object) { return object.type().basicsize + array_bytes(object); }

void list_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const Address items = object.pointer(object.layout().list.ob_item);
    // The array of a free-threaded build has its own length before the items (_PyListArray, listobject.c).
    const std::uint64_t before = object.layout().list_array.ob_item.or_else(0);
    if (!items.is_null()) visit.visit(items - before, before + array_bytes(object), false);
}

bool list_reads(const ObjectReader& object) {
    const std::int64_t count = object.var_size();
    const auto allocated = object.integer<std::int64_t>(object.layout().list.allocated);
    const Address items = object.pointer(object.layout().list.ob_item);
    if (allocated == -1) return items.is_null();  // list.sort() is at work on it
    return count >= 0 && count <= allocated && allocated <= (std::int64_t{1} << 48) &&
           (count == 0 || !items.is_null());
}

void list_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Address items = object.pointer(object.layout().list.ob_item);
    // Where these disagree, no more than it has room for.
    const auto allocated = object.integer<std::int64_t>(object.layout().list.allocated);
    const std::uint64_t count =
        object.readable_items(items, std::min(object.var_size(), std::max<std::int64_t>(allocated, 0)));
    const AddressSpace::Window there(object.heap().memory(), items, 8 * count);
    for (std::uint64_t i = 0; i < count; ++i) visit.indexed(there.pointer(8 * i), i);
}

ShortValue list_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::summary,
            fmt::format("list of {}", std::max<std::int64_t>(object.var_size(), 0)), 0};
}

/// The names that the C type of a struct sequence has for its fields. They must be asked for in the order of
/// the fields.
class FieldNames {
public:
    FieldNames(const ObjectReader& object, const TypeInfo& c_type)
        : heap_(object.heap()),
          def_(object.layout().member_def),
          member_(heap_.pointer(c_type.address + *object.layout().type.tp_members)),
          left_(member_.is_null() ? 0 : c_type.field_count) {}

    /// Null if the field at `offset` has none.
    Address at(std::uint64_t offset) {
        for (; left_ > 0; --left_, member_ = member_ + *def_.size) {
            const Address name = heap_.pointer(member_ + *def_.name);
            const auto of = heap_.integer<std::uint64_t>(member_ + *def_.offset);
            if (name.is_null() || of > offset) break;
            if (of == offset) return name;
        }
        return {};
    }

private:
    const PythonHeap& heap_;
    const member_def_layout& def_;
    Address member_;
    std::uint32_t left_;
};

/// The nearest base that is made by C: the one with its own n_fields.
const TypeInfo& struct_sequence_type(const ObjectReader& object) {
    const TypeInfo* at = &object.type();
    while (at->python_class && at->base != no_type) at = &object.heap().types()[at->base];
    return *at;
}

/// The items after those that len() counts. A type that uses tuple's traverse does not report them.
void hidden_field_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const std::int64_t shown = object.var_size();
    if (shown < 0 || shown >= object.type().field_count) return;
    const TypeInfo& type = struct_sequence_type(object);
    const LayoutOffset traverse = object.layout().type.tp_traverse;
    const Address of_tuple = type.base == no_type ? Address() : object.heap().types()[type.base].address;
    const bool reported =
        object.heap().pointer(type.address + *traverse) != object.heap().pointer(of_tuple + *traverse);
    FieldNames names(object, type);
    for (auto i = static_cast<std::uint64_t>(shown); i < object.type().field_count; ++i) {
        const std::uint64_t offset = *object.layout().tuple.ob_item + 8 * i;
        const Address target = object.heap().pointer(object.at(offset));
        if (target.is_null()) continue;
        const auto kind = reported ? ReferenceKind::strong : ReferenceKind::hidden;
        const Address name = names.at(offset);
        if (name.is_null())
            visit.named(target, ".<hidden field>", kind);
        else
            visit.visit(target, kind, {ReferenceName::Form::c_attribute, "", 0, name});
    }
}

void tuple_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const std::uint64_t items = *object.layout().tuple.ob_item;
    const std::uint64_t count = object.readable_items(object.at(items), object.var_size());
    if (object.heap().is_kept_arguments(object.address())) return;  // it no longer holds what is in it
    for (std::uint64_t i = 0; i < count; ++i) visit.indexed(object.pointer_at(items + 8 * i), i);
    if (object.type().field_count > 0) hidden_field_references(object, visit);
}

bool tuple_plausible(const ObjectReader& object) {
    const std::int64_t count = object.var_size();
    if (count < 0 || count > (std::int64_t{1} << 40)) return false;
    const std::uint64_t items = *object.layout().tuple.ob_item;
    if (object.readable_items(object.at(items), count) != static_cast<std::uint64_t>(count)) return false;
    for (std::int64_t i = 0; i < std::min<std::int64_t>(count, 16); ++i) {
        const Address item = object.pointer_at(items + 8 * static_cast<std::uint64_t>(i));
        if (!item.is_null() && object.heap().type_of(item) == no_type) return false;
    }
    return true;
}

/// Includes the hidden fields of a struct sequence, which neither ob_size nor (up to 3.11) tp_basicsize
/// counts.
std::uint64_t tuple_body(const ObjectReader& object) {
    return std::max(basic_size(object),
                    *object.layout().tuple.ob_item + 8 * std::uint64_t{object.type().field_count});
}

bool tuple_reads(const ObjectReader& object) {
    const std::int64_t count = object.var_size();
    return count >= 0 && count <= (std::int64_t{1} << 48);
}

ShortValue tuple_describe(const ObjectReader& object, std::size_t) {
    return {ShortValue::Kind::summary,
            fmt::format("tuple of {}", std::max<std::int64_t>(object.var_size(), 0)), 0};
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
                               .body_size = tuple_body,
                               .visit_references = tuple_references,
                               .describe = tuple_describe,
                               .plausible = tuple_plausible,
                               .reads = tuple_reads};

}  // namespace heapsift
