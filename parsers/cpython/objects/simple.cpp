// Kinds with few fields: cells, properties, class and static methods, proxies, slices, ranges, capsules,
// namespaces, and the singletons, which have none.

#include "parsers/cpython/objects/fields.h"
#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

namespace heapsift {

namespace {

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

/// Since 3.13 a capsule may hold objects, known only to its maker.
bool capsule_exact(const ObjectReader& object) {
    return object.pointer(object.layout().capsule.traverse_func).is_null();
}

ShortValue none_describe(const ObjectReader& object, std::size_t) {
    const KnownType type = object.type().known;
    const bool none = type == KnownType::none, ellipsis = type == KnownType::ellipsis;
    return {.kind = ShortValue::Kind::name,
            .text = none       ? "None"
                    : ellipsis ? "Ellipsis"
                               : "NotImplemented",
            .constant = none || ellipsis};
}

constexpr const char* cell_names[] = {"cell"};
constexpr const char* property_names[] = {"property"};
constexpr const char* classmethod_names[] = {"classmethod"};
constexpr const char* staticmethod_names[] = {"staticmethod"};
constexpr const char* mappingproxy_names[] = {"mappingproxy"};
constexpr const char* slice_names[] = {"slice"};
constexpr const char* range_names[] = {"range"};
constexpr const char* capsule_names[] = {"PyCapsule"};
constexpr const char* none_names[] = {"NoneType", "ellipsis", "NotImplementedType"};

constexpr const char* super_names[] = {"super"};
constexpr const char* instance_method_names[] = {"instancemethod"};
constexpr const char* namespace_names[] = {"types.SimpleNamespace"};
constexpr const char* frame_locals_proxy_names[] = {"FrameLocalsProxy"};
constexpr const char* tuple_getter_names[] = {"_collections._tuplegetter", "collections._tuplegetter"};
constexpr const char* buffer_wrapper_names[] = {"_buffer_wrapper"};
constexpr const char* pickle_buffer_names[] = {"pickle.PickleBuffer"};
constexpr const char* template_string_names[] = {"string.templatelib.Template"};
constexpr const char* interpolation_names[] = {"string.templatelib.Interpolation"};
constexpr const char* lazy_import_names[] = {"lazy_import"};
constexpr const char* sentinel_names[] = {"sentinel"};

constexpr ReferenceField<cell_layout> cell_fields[] = {{&cell_layout::ob_ref, ".cell_contents"}};
constexpr ReferenceField<property_layout> property_fields[] = {{&property_layout::prop_get, ".fget"},
                                                               {&property_layout::prop_set, ".fset"},
                                                               {&property_layout::prop_del, ".fdel"},
                                                               {&property_layout::prop_doc, ".__doc__"},
                                                               {&property_layout::prop_name, ".__name__"}};
constexpr ReferenceField<classmethod_layout> classmethod_fields[] = {
    {&classmethod_layout::callable, ".__func__"}, {&classmethod_layout::dict, ".__dict__"}};
constexpr ReferenceField<staticmethod_layout> staticmethod_fields[] = {
    {&staticmethod_layout::callable, ".__func__"}, {&staticmethod_layout::dict, ".__dict__"}};
constexpr ReferenceField<mappingproxy_layout> mappingproxy_fields[] = {
    {&mappingproxy_layout::mapping, ".<mapping>"}};
constexpr ReferenceField<slice_layout> slice_fields[] = {
    {&slice_layout::start, ".start"}, {&slice_layout::stop, ".stop"}, {&slice_layout::step, ".step"}};
constexpr ReferenceField<super_layout> super_fields[] = {{&super_layout::obj, ".__self__"},
                                                         {&super_layout::type, ".__thisclass__"},
                                                         {&super_layout::obj_type, ".__self_class__"}};
constexpr ReferenceField<instance_method_layout> instance_method_fields[] = {
    {&instance_method_layout::func, ".__func__"}};
constexpr ReferenceField<namespace__layout> namespace_fields[] = {{&namespace__layout::ns_dict, ".__dict__"}};
constexpr ReferenceField<frame_locals_proxy_layout> frame_locals_proxy_fields[] = {
    {&frame_locals_proxy_layout::frame, ".<frame>"}};
constexpr ReferenceField<tuple_getter_layout> tuple_getter_fields[] = {
    {&tuple_getter_layout::doc, ".__doc__"}};
constexpr ReferenceField<buffer_wrapper_layout> buffer_wrapper_fields[] = {
    {&buffer_wrapper_layout::mv, ".<memoryview>"}, {&buffer_wrapper_layout::obj, ".obj"}};
constexpr ReferenceField<pickle_buffer_layout> pickle_buffer_fields[] = {
    {&pickle_buffer_layout::obj, ".obj"}};
constexpr ReferenceField<template_string_layout> template_string_fields[] = {
    {&template_string_layout::strings, ".strings"},
    {&template_string_layout::interpolations, ".interpolations"}};
constexpr ReferenceField<interpolation_layout> interpolation_fields[] = {
    {&interpolation_layout::value, ".value"},
    {&interpolation_layout::expression, ".expression"},
    {&interpolation_layout::conversion, ".conversion"},
    {&interpolation_layout::format_spec, ".format_spec"}};
constexpr ReferenceField<lazy_import_layout> lazy_import_fields[] = {
    {&lazy_import_layout::builtins, ".<builtins>"},
    {&lazy_import_layout::from, ".<from>"},
    {&lazy_import_layout::attribute, ".<attribute>"},
    {&lazy_import_layout::code, ".<code>"}};
constexpr ReferenceField<sentinel_layout> sentinel_fields[] = {{&sentinel_layout::name, ".__name__"},
                                                               {&sentinel_layout::module, ".__module__"},
                                                               {&sentinel_layout::repr, ".<repr>"}};

const ObjectKind kinds_of_simple[] = {
    {.name = "range", .type_names = range_names, .visit_references = range_references},
    {.name = "PyCapsule", .type_names = capsule_names, .describe = capsule_describe, .exact = capsule_exact},
    {.name = "None", .type_names = none_names, .describe = none_describe},
    fields_kind<&Layout::cell, cell_fields>("cell", cell_names),
    fields_kind<&Layout::property, property_fields>("property", property_names),
    fields_kind<&Layout::classmethod, classmethod_fields>("classmethod", classmethod_names),
    fields_kind<&Layout::staticmethod, staticmethod_fields>("staticmethod", staticmethod_names),
    fields_kind<&Layout::mappingproxy, mappingproxy_fields>("mappingproxy", mappingproxy_names),
    fields_kind<&Layout::slice, slice_fields>("slice", slice_names),
    fields_kind<&Layout::super, super_fields>("super", super_names),
    fields_kind<&Layout::instance_method, instance_method_fields>("instancemethod", instance_method_names),
    fields_kind<&Layout::namespace_, namespace_fields>("SimpleNamespace", namespace_names),
    fields_kind<&Layout::frame_locals_proxy, frame_locals_proxy_fields>("FrameLocalsProxy",
                                                                        frame_locals_proxy_names),
    fields_kind<&Layout::tuple_getter, tuple_getter_fields>("tuplegetter", tuple_getter_names),
    fields_kind<&Layout::buffer_wrapper, buffer_wrapper_fields>("buffer wrapper", buffer_wrapper_names),
    fields_kind<&Layout::pickle_buffer, pickle_buffer_fields>("PickleBuffer", pickle_buffer_names),
    fields_kind<&Layout::template_string, template_string_fields>("Template", template_string_names),
    fields_kind<&Layout::interpolation, interpolation_fields>("Interpolation", interpolation_names),
    fields_kind<&Layout::lazy_import, lazy_import_fields>("lazy import", lazy_import_names),
    fields_kind<&Layout::sentinel, sentinel_fields>("sentinel", sentinel_names),
};

}  // namespace

std::span<const ObjectKind> simple_kinds() { return kinds_of_simple; }

}  // namespace heapsift
