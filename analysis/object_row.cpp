// One object, read once for every command that lists or shows it.

#include "analysis/object_row.h"

namespace heapsift {

ObjectRow object_row(const HeapReader& heap, ObjectId object) {
    ObjectRow row = brief_object_row(heap, object);
    row.facts = heap.facts(object);
    row.found_by = heap.snapshot().found_by(object);
    return row;
}

ObjectRow brief_object_row(const HeapReader& heap, ObjectId object) {
    const HeapSnapshot& columns = heap.snapshot();
    ObjectRow row;
    row.id = object;
    row.address = columns.address_of(object);
    row.type = type_name(columns.types, columns.type_of(object));
    row.value = heap.value(object);
    return row;
}

std::string type_name(const TypeTable& types, TypeId type) {
    return type == no_type ? std::string("<type not found>") : types[type].name;
}

std::string short_type_name(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string::npos || name.starts_with('<') ? name : name.substr(dot + 1);
}

}  // namespace heapsift
