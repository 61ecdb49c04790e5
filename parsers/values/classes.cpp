// Instances of classes that programs write: enumerations, named tuples, dataclasses, classes of attrs, simple
// namespaces; and of any other class, by the attributes that tell one instance from another.
//
// What a class is, its dict says: a dataclass has __dataclass_fields__, a class of attrs __attrs_attrs__, a named
// tuple _fields; the class of an enumeration has a metaclass. The fields' own objects say which of them repr()
// shows. (enum.py, dataclasses.py, collections/__init__.py of 3.9 to 3.13; attr/_make.py of 20 to 25)

#include "parsers/cpython/type_flags.h"
#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace heapsift {

namespace {

constexpr std::size_t most_fields = 32;
constexpr int most_metatypes = 16;
constexpr std::size_t most_attributes = 24, shown_attributes = 3;
constexpr std::size_t longest_of_instance = 30;

/// "Outer.Order(": what repr() of a dataclass begins with.
std::string class_name(const Describing& of) { return qualified_name(of.heap(), of.object.type()); }

bool is_enumeration(const PythonHeap& heap, const TypeInfo& type) {
    TypeId at = type.metatype;
    for (int i = 0; at != no_type && i < most_metatypes; ++i, at = heap.types()[at].base)
        if (const std::string& name = heap.types()[at].name;
            name == "enum.EnumMeta" || name == "enum.EnumType")
            return true;
    return false;
}

/// A member is named by the program's source, as an attribute is: nothing to redact.
ShortValue enum_member(const Describing& of) {
    if (const auto name = str_value(of.heap(), stored_attribute(of.object, "_name_"))) {
        ShortValue value = whole_literal_value(class_name(of) + "." + *name);
        value.without_values = value.text;
        return value;
    }
    // Up to 3.10 a union of flags has no name.
    const Address number = stored_attribute(of.object, "_value_");
    if (number.is_null()) return {};
    ValueText value(of, class_name(of) + "(");
    return std::move(value.part(number)).literal();
}

void add_field(ValueText& value, const std::string& name, Address field) {
    value.add(name).add("=").part(field);
}

ShortValue named_tuple(const Describing& of) {
    const FirstItems names =
        first_items(of.heap(), class_attribute(of.heap(), of.object.type(), "_fields"), most_fields);
    const FirstItems fields = first_items(of.heap(), of.object.address(), most_fields);
    if (names.count != fields.count || names.items.size() != fields.items.size()) return {};
    ValueText value(of, short_name(of.object.type().name) + "(");
    bool whole = names.count <= most_fields;
    for (std::size_t i = 0; i < names.items.size(); ++i) {
        const auto name = str_value(of.heap(), names.items[i]);
        if (!name) return {};
        if (!value.next()) {
            whole = true;
            break;
        }
        add_field(value, *name, fields.items[i]);
    }
    if (!whole) value.leave_out_the_rest();
    return std::move(value).literal();
}

ShortValue dataclass(const Describing& of) {
    const PythonHeap& heap = of.heap();
    const auto fields =
        first_entries(heap, class_attribute(heap, of.object.type(), "__dataclass_fields__"), most_fields + 1);
    ValueText value(of, class_name(of) + "(");
    for (const auto& [key, field] : fields) {
        const auto name = str_value(heap, key);
        const auto facts = object_at(heap, field);
        if (!name || !facts || !is_true(heap, stored_attribute(*facts, "repr"))) continue;
        // Class variables stand among the fields, marked by an object with a name.
        const auto mark = object_at(heap, stored_attribute(*facts, "_field_type"));
        if (!mark || str_value(heap, stored_attribute(*mark, "name")) != "_FIELD") continue;
        Address content = stored_attribute(of.object, *name);
        if (content.is_null()) content = class_attribute(heap, of.object.type(), *name);
        if (content.is_null()) continue;
        if (!value.next()) break;
        add_field(value, *name, content);
    }
    return std::move(value).literal();
}

ShortValue attrs_instance(const Describing& of) {
    const PythonHeap& heap = of.heap();
    const FirstItems fields =
        first_items(heap, class_attribute(heap, of.object.type(), "__attrs_attrs__"), most_fields);
    std::string begin = class_name(of);
    if (const std::size_t local = begin.rfind(">."); local != std::string::npos) begin.erase(0, local + 2);
    ValueText value(of, begin + "(");
    for (const Address field : fields.items) {
        const auto facts = object_at(heap, field);
        if (!facts) continue;
        const auto name = str_value(heap, stored_attribute(*facts, "name"));
        const Address shown = stored_attribute(*facts, "repr");
        if (!name || (heap.types().is(heap.type_of(shown), KnownType::boolean) && !is_true(heap, shown)))
            continue;
        const Address content = stored_attribute(of.object, *name);
        if (content.is_null()) continue;
        if (!value.next()) break;
        add_field(value, *name, content);
    }
    return std::move(value).literal();
}

/// What people call the attributes by which they know an instance, best first.
constexpr std::array<std::string_view, 23> telling_names = {
    "id",    "pk",       "_id",    "uuid",     "key",      "name",   "_name", "title",
    "label", "slug",     "code",   "username", "filename", "email",  "path",  "url",
    "host",  "hostname", "number", "port",     "index",    "status", "state"};

std::size_t rank_of(const std::string& name) {
    const auto at = std::find(telling_names.begin(), telling_names.end(), name);
    if (at != telling_names.end()) return static_cast<std::size_t>(at - telling_names.begin());
    const bool is_id = name.ends_with("_id") || name.ends_with("_name");
    const bool hidden = name.starts_with('_');
    return telling_names.size() + (hidden ? 2 : is_id ? 0 : 1);
}

struct TellingAttribute {
    std::size_t rank;
    std::string name;
    ShortValue value;
};

}  // namespace

Describe class_value(const PythonHeap& heap, const TypeInfo& type, Address dict) {
    if (is_enumeration(heap, type)) return enum_member;
    if (dict.is_null()) return nullptr;
    const auto has = [&](std::string_view name) { return !heap.dict_value(dict, name).is_null(); };
    if (has("_sa_class_manager")) return mapped_value();
    if (has("__dataclass_fields__")) return dataclass;
    if (has("__attrs_attrs__")) return attrs_instance;
    if ((type.flags & tuple_subclass_flag) && has("_fields")) return named_tuple;
    return nullptr;
}

ShortValue namespace_value(const Describing& of) {
    const auto entries =
        first_entries(of.heap(), of.object.pointer(of.object.layout().namespace_.ns_dict), most_fields);
    const TypeInfo& type = of.object.type();
    ValueText value(of, (type.python_class ? short_name(type.name) : "namespace") + "(");
    for (const auto& [key, content] : entries) {
        const auto name = str_value(of.heap(), key);
        if (!name) continue;
        if (!value.next()) break;
        add_field(value, *name, content);
    }
    return std::move(value).literal();
}

ShortValue instance_value(const Describing& of) {
    const auto attributes = stored_attributes(of.object, most_attributes);
    std::vector<TellingAttribute> telling;
    for (const auto& [name, content] : attributes) {
        const auto object = object_at(of.heap(), content);
        // Within other objects only numbers and texts are looked at, so that the work does not multiply.
        if (!object || of.depth > 1) continue;
        ShortValue value = of.values.value(content, object->type(), longest_of_instance, of.depth + 2);
        if (value.kind != ShortValue::Kind::literal) continue;
        telling.push_back({rank_of(name), name, std::move(value)});
    }
    if (telling.empty()) return {};
    std::stable_sort(telling.begin(), telling.end(),
                     [](const auto& a, const auto& b) { return a.rank < b.rank; });
    const std::string name = short_name(of.object.type().name);
    std::string text = name + "(";
    const std::size_t shown = std::min(telling.size(), shown_attributes);
    bool cut = attributes.size() > shown;
    for (std::size_t i = 0; i < shown; ++i) {
        if (i > 0 && text.size() >= of.limit) break;
        text += (i > 0 ? ", " : "") + telling[i].name + "=" + telling[i].value.text;
    }
    if (cut) text += ", …";
    text += ")";
    const std::size_t length = text.size();
    return {.kind = ShortValue::Kind::summary,
            .text = std::move(text),
            .length = length,
            .cut = cut,
            .without_values = name + "(…)"};
}

}  // namespace heapsift
