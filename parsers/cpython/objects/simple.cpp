// Kinds with a handful of fields: cells, properties, class and static methods, partials, proxies, slices, ranges, capsules, and
// the singletons that have none.

#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

namespace heapsift {

namespace {

void cell_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().cell.ob_ref), ".cell_contents");
}

void property_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().property;
    visit.named(object.pointer(l.prop_get), ".fget");
    visit.named(object.pointer(l.prop_set), ".fset");
    visit.named(object.pointer(l.prop_del), ".fdel");
    visit.named(object.pointer(l.prop_doc), ".__doc__");
    visit.named(object.pointer(l.prop_name), ".__name__");
}

void classmethod_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().classmethod.callable), ".__func__");
    visit.named(object.pointer(object.layout().classmethod.dict), ".__dict__");
}

void staticmethod_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().staticmethod.callable), ".__func__");
    visit.named(object.pointer(object.layout().staticmethod.dict), ".__dict__");
}

void partial_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().partial;
    visit.named(object.pointer(l.fn), ".func");
    visit.named(object.pointer(l.args), ".args");
    visit.named(object.pointer(l.kw), ".keywords");
    visit.named(object.pointer(l.dict), ".__dict__");
}

void mappingproxy_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().mappingproxy.mapping), ".<mapping>");
}

void slice_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().slice;
    visit.named(object.pointer(l.start), ".start");
    visit.named(object.pointer(l.stop), ".stop");
    visit.named(object.pointer(l.step), ".step");
}

void range_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().range;
    visit.named(object.pointer(l.start), ".start", ReferenceKind::hidden);
    visit.named(object.pointer(l.stop), ".stop", ReferenceKind::hidden);
    visit.named(object.pointer(l.step), ".step", ReferenceKind::hidden);
    visit.named(object.pointer(l.range_length), ".<length>", ReferenceKind::hidden);
}

ShortValue capsule_describe(const ObjectReader& object, std::size_t) {
    const auto name = object.heap().memory().read_c_string(object.pointer(object.layout().capsule.name), 100);
    return {ShortValue::Kind::name, "<capsule \"" + name.value_or("") + "\">", 0};
}

ShortValue none_describe(const ObjectReader& object, std::size_t) {
    const std::string& name = object.type().name;
    return {ShortValue::Kind::name, name == "NoneType" ? "None" : name == "ellipsis" ? "Ellipsis" : "NotImplemented", 0};
}

constexpr const char* cell_names[] = {"cell"};
constexpr const char* property_names[] = {"property"};
constexpr const char* classmethod_names[] = {"classmethod"};
constexpr const char* staticmethod_names[] = {"staticmethod"};
constexpr const char* partial_names[] = {"functools.partial"};
constexpr const char* mappingproxy_names[] = {"mappingproxy"};
constexpr const char* slice_names[] = {"slice"};
constexpr const char* range_names[] = {"range"};
constexpr const char* capsule_names[] = {"PyCapsule"};
constexpr const char* none_names[] = {"NoneType", "ellipsis", "NotImplementedType"};

}  // namespace

const ObjectKind cell_kind = {.name = "cell", .type_names = cell_names, .visit_references = cell_references};
const ObjectKind property_kind = {.name = "property", .type_names = property_names, .visit_references = property_references};
const ObjectKind classmethod_kind = {
    .name = "classmethod", .type_names = classmethod_names, .visit_references = classmethod_references};
const ObjectKind staticmethod_kind = {
    .name = "staticmethod", .type_names = staticmethod_names, .visit_references = staticmethod_references};
const ObjectKind partial_kind = {.name = "partial", .type_names = partial_names, .visit_references = partial_references};
const ObjectKind mappingproxy_kind = {
    .name = "mappingproxy", .type_names = mappingproxy_names, .visit_references = mappingproxy_references};
const ObjectKind slice_kind = {.name = "slice", .type_names = slice_names, .visit_references = slice_references};
const ObjectKind range_kind = {.name = "range", .type_names = range_names, .visit_references = range_references};
const ObjectKind capsule_kind = {.name = "capsule", .type_names = capsule_names, .describe = capsule_describe};
const ObjectKind none_kind = {.name = "None", .type_names = none_names, .describe = none_describe};

}  // namespace heapsift
