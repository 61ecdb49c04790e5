// One object, read once for every command that lists or shows it.

#include "analysis/object_row.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

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

bool reads_as_unit(const std::string& type) {
    constexpr std::array<std::string_view, 18> units = {"bit",  "byte", "kib",  "mib",   "gib",    "tib",
                                                        "kb",   "mb",   "gb",   "tb",    "second", "minute",
                                                        "hour", "day",  "week", "month", "year",   "percent"};
    std::string word = type.substr(type.rfind('.') + 1);
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (word.size() > 3 && word.back() == 's') word.pop_back();
    return std::find(units.begin(), units.end(), word) != units.end();
}

std::string short_type_name(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    return dot == std::string::npos || name.starts_with('<') ? name : name.substr(dot + 1);
}

}  // namespace heapsift
