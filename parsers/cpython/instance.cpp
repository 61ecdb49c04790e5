#include "parsers/cpython/instance.h"
#include "parsers/cpython/build/instance_dict.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/type_flags.h"

// The attributes of an instance have four forms. Up to 3.10: a dict at tp_dictoffset. 3.11: two words before
// the collector's header, values and dict, of which one is set. 3.12: one tagged word; if odd, it is the
// values' address minus one. 3.13 and later: a dict word before the object, and values inside the object's
// own block while they are valid. The class's cached keys name the values, in the same order. Source:
// pycore_dict.h, pycore_object.h, dictobject.c (3.9 to 3.13).
//
// Once its __dict__ was asked for, the instance refers to that dict, and the dict to the values, even where
// the values still lie inside the instance. Up to 3.13.12 it is then the instance that reports the values,
// and nobody reports the dict.

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::int32_t member_object = 6;      // T_OBJECT, structmember.h
constexpr std::int32_t member_object_ex = 16;  // T_OBJECT_EX
// _Py_AFTER_ITEMS (3.15, descrobject.h): the offset is counted as if the object had no items.
constexpr std::int32_t after_items = 16;

/// How far before the object the word for a managed dict is, and in 3.11 the one for values.
std::uint64_t managed_dict_offset(const Layout& layout) { return collector_header_size(layout) + 8; }
std::uint64_t managed_values_offset(const Layout& layout) { return collector_header_size(layout) + 16; }

bool managed(const PythonHeap& heap, const TypeInfo& type) {
    return managed_dict(heap.layout()) != ManagedDict::none && (type.flags & managed_dict_flag);
}

DictFacts cached_keys(const ObjectReader& object) { return object.heap().cached_keys(object.type()); }

std::uint64_t round8(std::uint64_t n) { return (n + 7) / 8 * 8; }

/// 3.13 and later: struct _dictvalues inside the object.
Address inline_values(const ObjectReader& object) {
    if (!object.layout().dict_values.embedded.present() || !(object.type().flags & inline_values_flag))
        return {};
    // 3.13 places them after PyObject, which is all that such a type has; 3.14 after tp_basicsize.
    return object.at(object.type().basicsize);
}

/// Bytes of the items of a variable-sized object.
std::uint64_t items_size(const ObjectReader& object) {
    const std::int64_t count = object.type().itemsize > 0 ? object.var_size() : 0;
    if (count <= 0 || count > (std::int64_t{1} << 40)) return 0;
    return round8(static_cast<std::uint64_t>(object.type().itemsize) * static_cast<std::uint64_t>(count));
}

void visit_slots(const ObjectReader& object, ReferenceVisitor& visit) {
    const PythonHeap& heap = object.heap();
    const auto& def = object.layout().member_def;
    const TypeInfo* at = &object.type();
    for (int steps = 0; at->python_class && steps < 4096; ++steps) {
        const std::int64_t count = heap.var_size(at->address);
        if (count > 0 && count < 65536 && at->metatype != no_type) {
            const Address members = at->address + heap.types()[at->metatype].basicsize;
            for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i) {
                const Address member = members + i * *def.size;
                const auto type = heap.integer<std::int32_t>(member + *def.type);
                auto offset = heap.integer<std::int64_t>(member + *def.offset);
                if (heap.integer<std::int32_t>(member + *def.flags) & after_items)
                    offset += static_cast<std::int64_t>(items_size(object));
                if ((type != member_object && type != member_object_ex) || offset < 16 ||
                    offset > (std::int64_t{1} << 44))
                    continue;
                const Address target = heap.pointer(object.at(static_cast<std::uint64_t>(offset)));
                if (!target.is_null())
                    visit.visit(target, ReferenceKind::strong,
                                {ReferenceName::Form::c_attribute, "", 0, heap.pointer(member + *def.name)});
            }
        }
        if (at->base == no_type) break;
        at = &heap.types()[at->base];
    }
}

/// How an instance refers to its class, a heap type. A Python class's own traverse reports it, unless the C
/// base's does (typeobject.c, subtype_traverse).
ReferenceKind class_reference(const ObjectReader& object) {
    if (!c_types_report_class(object.layout()))
        return object.type().python_class ? ReferenceKind::strong : ReferenceKind::hidden;
    const TypeInfo* base = c_base(object.heap(), object.type());
    if (base->heap_type && base->traverse_of_static_base) return ReferenceKind::hidden;
    if (!base->heap_type || !base->kind || !base->kind->reports_class) return ReferenceKind::strong;
    return base->kind->reports_class(object.layout()) ? ReferenceKind::strong : ReferenceKind::hidden;
}

}  // namespace

const TypeInfo* c_base(const PythonHeap& heap, const TypeInfo& type) {
    const TypeInfo* at = &type;
    for (int steps = 0; at->python_class && at->base != no_type && steps < 4096; ++steps)
        at = &heap.types()[at->base];
    return at;
}

bool has_instance_dict(const PythonHeap& heap, const TypeInfo& type) {
    if (managed(heap, type)) return true;
    return type.python_class && type.dictoffset != 0 && type.dictoffset != c_base(heap, type)->dictoffset;
}

Address values_apart(const PythonHeap& heap, Address object) {
    const ManagedDict form = managed_dict(heap.layout());
    if (form == ManagedDict::none || form == ManagedDict::inline_values) return {};
    const Address word = heap.pointer(object - managed_dict_offset(heap.layout()));
    if (form == ManagedDict::tagged_word) return word.value & 1 ? word + 1 : Address();
    return word.is_null() ? heap.pointer(object - managed_values_offset(heap.layout())) : Address();
}

InstanceDict instance_dict(const ObjectReader& object) {
    InstanceDict result;
    const PythonHeap& heap = object.heap();
    const TypeInfo& type = object.type();
    if (!has_instance_dict(heap, type)) return result;
    if (!managed(heap, type)) {
        std::int64_t offset = type.dictoffset;
        if (offset < 0) {  // before 3.12: from the end of a variable-sized object
            const std::int64_t count = object.var_size();
            const std::uint64_t items =
                count < 0 ? 0 - static_cast<std::uint64_t>(count) : static_cast<std::uint64_t>(count);
            if (items > (std::uint64_t{1} << 40)) return result;
            offset += static_cast<std::int64_t>(
                round8(type.basicsize + static_cast<std::uint64_t>(type.itemsize) * items));
        }
        result.dict = heap.pointer(object.at(static_cast<std::uint64_t>(offset)));
        return result;
    }
    const Address slot = object.address() - managed_dict_offset(object.layout());
    const ManagedDict form = managed_dict(object.layout());
    if (form == ManagedDict::inline_values) {
        result.dict = heap.pointer(slot);
        const Address values = inline_values(object);
        if (values.is_null()) return result;
        const auto& l = object.layout().dict_values;
        if (heap.integer<std::uint8_t>(values + *l.valid) == 0) return result;
        result.dict_owns_values = !result.dict.is_null();
        result.count = std::min<std::uint64_t>(heap.integer<std::uint8_t>(values + *l.capacity),
                                               cached_keys(object).entry_count);
        result.values = values + *l.values;
        return result;
    }
    Address values;
    if (form == ManagedDict::tagged_word) {
        const Address word = heap.pointer(slot);
        if (word.value & 1)
            values = word + 1;
        else
            result.dict = word;
    } else {
        result.dict = heap.pointer(slot);
        values = heap.pointer(object.address() - managed_values_offset(object.layout()));
    }
    if (!result.dict.is_null() || values.is_null()) return result;
    const DictFacts keys = cached_keys(object);
    result.values = values;
    result.count = keys.entry_count;
    // The byte before the values is the size of what precedes them (dictobject.c, new_values).
    const auto prefix = heap.integer<std::uint8_t>(values - 1);
    result.values_block = values - prefix;
    // As many as the shared keys had room for when the instance was made, which is never fewer than now.
    const auto usable = heap.integer<std::uint64_t>(keys.keys + *object.layout().dict_keys.dk_usable);
    result.values_block_size =
        prefix + 8 * (std::min(usable, keys.capacity - keys.entry_count) + keys.entry_count);
    return result;
}

Address instance_attribute(const ObjectReader& object, std::string_view name) {
    const PythonHeap& heap = object.heap();
    const InstanceDict attributes = instance_dict(object);
    if (!attributes.dict.is_null()) return heap.dict_value(attributes.dict, name);
    const DictFacts keys = cached_keys(object);
    const std::uint64_t count = std::min(attributes.count, keys.entry_count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const Address key =
            heap.pointer(keys.entries + i * keys.entry_size + (keys.entry_size == 24 ? 8 : 0));
        if (heap.unicode_equals(key, name)) return heap.pointer(attributes.values + 8 * i);
    }
    return {};
}

std::uint64_t inline_values_size(const ObjectReader& object) {
    if (!object.layout().dict_values.embedded.present() || !(object.type().flags & inline_values_flag))
        return 0;
    const DictFacts keys = cached_keys(object);
    if (keys.keys.is_null()) return 0;
    // _PyInlineValuesSize (pycore_dict.h): order bytes rounded up to words, plus a header word.
    const std::uint64_t usable =
        object.heap().integer<std::uint64_t>(keys.keys + *object.layout().dict_keys.dk_usable);
    const std::uint64_t size = std::min(usable, keys.capacity) + keys.entry_count;
    return round8(size) + (size + 1) * 8;
}

void visit_instance_references(const ObjectReader& object, ReferenceVisitor& visit) {
    if (object.type().heap_type) visit.named(object.type().address, ".__class__", class_reference(object));
    visit_instance_attributes(object, visit);
}

void visit_instance_attributes(const ObjectReader& object, ReferenceVisitor& visit) {
    const PythonHeap& heap = object.heap();
    if (object.type().python_class) visit_slots(object, visit);
    const InstanceDict attributes = instance_dict(object);
    const bool values_reported = attributes.dict_owns_values && !heap.runtime().instance_reports_dict;
    visit.named(attributes.dict, ".__dict__",
                values_reported ? ReferenceKind::hidden : ReferenceKind::strong);
    if (attributes.dict_owns_values && !values_reported) return;
    if (attributes.values.is_null() || attributes.count == 0) return;
    const DictFacts keys = cached_keys(object);
    const std::uint64_t count = std::min(attributes.count, keys.entry_count);
    const AddressSpace::Window values(heap.memory(), attributes.values, 8 * count),
        entries(heap.memory(), keys.entries, count * keys.entry_size);
    for (std::uint64_t i = 0; i < count; ++i) {
        const Address value = values.pointer(8 * i);
        if (value.is_null()) continue;
        const Address key = entries.pointer(i * keys.entry_size + (keys.entry_size == 24 ? 8 : 0));
        visit.visit(value, values_reported ? ReferenceKind::reported : ReferenceKind::strong,
                    {ReferenceName::Form::attribute, "", i, key});
    }
}

void visit_instance_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const InstanceDict attributes = instance_dict(object);
    if (!attributes.values_block.is_null())
        visit.visit(attributes.values_block, attributes.values_block_size, false);
}

}  // namespace heapsift
