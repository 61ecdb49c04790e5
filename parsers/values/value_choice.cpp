// Values of objects, by their types.
//
// The problem: a row "datetime.date, 32 bytes" does not say which date it is, and a dict's entry has no name
// if its key has no text. Python's repr() would say it, but runs code. So for each type that people store
// there is a function that reads the fields which its repr() shows, and writes the same text.
//
// The functions stand in tables, a file for each family. A type is looked up by its name, then by what its
// class is (an enumeration, a dataclass), then likewise each class in the order in which Python looks up
// attributes. What has no row is described by its ObjectKind, and an instance of a class of the program by the
// attributes that tell it from others. The choice depends on the type only, so it is made once for each type.
//
// Values have other values as parts. Depth and length are limited, so that objects which contain each other
// end, and the work for one line is bounded whatever the heap holds.

#include "parsers/values/values.h"

#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

#include <string>

namespace heapsift {

namespace {

constexpr int deepest_part = 3;

/// As the kind of the object describes it. Also the answer for a type without a row.
ShortValue by_kind(const Describing& of) {
    const TypeInfo& type = of.object.type();
    return type.kind && type.kind->describe ? type.kind->describe(of.object, of.limit) : ShortValue{};
}

const std::unordered_multimap<std::string_view, ValueRow>& rows() {
    static const std::unordered_multimap<std::string_view, ValueRow> all = [] {
        std::unordered_multimap<std::string_view, ValueRow> made;
        for (const auto family :
             {date_values(), number_values(), identifier_values(), exception_values(), callable_values(),
              container_values(), thread_values(), file_values(), task_values(), library_values()})
            for (const ValueRow& row : family) made.emplace(row.type, row);
        return made;
    }();
    return all;
}

}  // namespace

Values::Values(const PythonHeap& heap) : heap_(&heap), found_size_(heap.types().size()) {
    found_ = std::make_unique<std::atomic<Describe>[]>(found_size_);
}

Describe Values::of_class(const TypeInfo& type) const {
    for (const TypeInfo* at : lookup_order(*heap_, type)) {
        const auto [first, last] = rows().equal_range(at->name);
        for (auto row = first; row != last; ++row)
            if (row->second.written_in_c != at->python_class) return row->second.describe;
        if (!at->python_class) continue;
        if (const Describe found = class_value(*heap_, *at, heap_->type_dict(at->address))) return found;
    }
    if (type.python_class && !(type.kind && type.kind->describe)) return instance_value;
    return by_kind;
}

Describe Values::find(const TypeInfo& type) const {
    const TypeId id = heap_->types().id_of(type);
    if (id == no_type || static_cast<std::size_t>(id) >= found_size_) return of_class(type);
    std::atomic<Describe>& known = found_[static_cast<std::size_t>(id)];
    if (const Describe describe = known.load(std::memory_order_relaxed)) return describe;
    const Describe describe = of_class(type);
    known.store(describe, std::memory_order_relaxed);
    return describe;
}

ShortValue Values::value(Address object, const TypeInfo& type, std::size_t limit, int depth) const {
    const ObjectReader reader(*heap_, object, type);
    const Describing of{*this, reader, limit, depth};
    const Describe describe = find(type);
    ShortValue value = describe(of);
    if (value.kind == ShortValue::Kind::none && describe != by_kind) value = by_kind(of);
    return value;
}

ShortValue Values::part(Address object, std::size_t limit, int depth) const {
    const TypeId id = object.is_null() ? no_type : heap_->type_of(object);
    if (id == no_type) return {.kind = ShortValue::Kind::summary, .text = "?"};
    const TypeInfo& type = heap_->types()[id];
    ShortValue value;
    if (depth <= deepest_part) value = this->value(object, type, limit, depth);
    if (value.kind == ShortValue::Kind::none)
        value = {.kind = ShortValue::Kind::name,
                 .text = fmt::format("<{} at {:#x}>", short_name(type.name), object.value)};
    return value;
}

}  // namespace heapsift
