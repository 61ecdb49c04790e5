// The C part of typing: generic aliases, unions, and since 3.12 type parameters and aliases.
// (genericaliasobject.c, unionobject.c, typevarobject.c)

#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

namespace heapsift {

namespace {

constexpr const char* generic_alias_names[] = {"types.GenericAlias"};
constexpr const char* union_type_names[] = {"types.UnionType", "typing.Union"};
constexpr const char* type_variable_names[] = {"typing.TypeVar"};
constexpr const char* parameter_specification_names[] = {"typing.ParamSpec"};
constexpr const char* type_variable_tuple_names[] = {"typing.TypeVarTuple"};
constexpr const char* parameter_attribute_names[] = {"typing.ParamSpecArgs", "typing.ParamSpecKwargs"};
constexpr const char* type_alias_names[] = {"typing.TypeAliasType"};

constexpr ReferenceField<generic_alias_layout> generic_alias_fields[] = {
    {&generic_alias_layout::origin, ".__origin__"},
    {&generic_alias_layout::args, ".__args__"},
    {&generic_alias_layout::parameters, ".__parameters__"}};
constexpr ReferenceField<union_type_layout> union_type_fields[] = {
    {&union_type_layout::args, ".__args__"},
    {&union_type_layout::hashable_args, ".<hashable arguments>"},
    {&union_type_layout::unhashable_args, ".<unhashable arguments>"},
    {&union_type_layout::parameters, ".__parameters__"}};
constexpr VersionedField<type_variable_layout> type_variable_fields[] = {
    {&type_variable_layout::name, ".__name__", 14},
    {&type_variable_layout::bound, ".__bound__"},
    {&type_variable_layout::evaluate_bound, ".<evaluate bound>"},
    {&type_variable_layout::constraints, ".__constraints__"},
    {&type_variable_layout::evaluate_constraints, ".<evaluate constraints>"},
    {&type_variable_layout::default_value, ".__default__"},
    {&type_variable_layout::evaluate_default, ".<evaluate default>"}};
constexpr VersionedField<parameter_specification_layout> parameter_specification_fields[] = {
    {&parameter_specification_layout::name, ".__name__", 14},
    {&parameter_specification_layout::bound, ".__bound__"},
    {&parameter_specification_layout::default_value, ".__default__"},
    {&parameter_specification_layout::evaluate_default, ".<evaluate default>"}};
constexpr VersionedField<type_variable_tuple_layout> type_variable_tuple_fields[] = {
    {&type_variable_tuple_layout::name, ".__name__", 14},
    {&type_variable_tuple_layout::bound, ".__bound__"},
    {&type_variable_tuple_layout::default_value, ".__default__"},
    {&type_variable_tuple_layout::evaluate_default, ".<evaluate default>"}};
constexpr ReferenceField<parameter_attribute_layout> parameter_attribute_fields[] = {
    {&parameter_attribute_layout::origin, ".__origin__"}};
constexpr VersionedField<type_alias_layout> type_alias_fields[] = {
    {&type_alias_layout::name, ".__name__", 14},
    {&type_alias_layout::qualname, ".__qualname__"},
    {&type_alias_layout::type_params, ".__type_params__"},
    {&type_alias_layout::compute_value, ".<compute value>"},
    {&type_alias_layout::value, ".__value__"},
    {&type_alias_layout::module, ".__module__"}};

const ObjectKind kinds_of_typing[] = {
    fields_kind<&Layout::generic_alias, generic_alias_fields>("generic alias", generic_alias_names),
    fields_kind<&Layout::union_type, union_type_fields>("union", union_type_names),
    versioned_kind<&Layout::type_variable, type_variable_fields>("TypeVar", type_variable_names),
    versioned_kind<&Layout::parameter_specification, parameter_specification_fields>(
        "ParamSpec", parameter_specification_names),
    versioned_kind<&Layout::type_variable_tuple, type_variable_tuple_fields>("TypeVarTuple",
                                                                          type_variable_tuple_names),
    {.name = "ParamSpecArgs",
     .type_names = parameter_attribute_names,
     .visit_references = visit_fields<&Layout::parameter_attribute, parameter_attribute_fields>,
     .struct_size = struct_size<&Layout::parameter_attribute>,
     .reports_class = [](const Layout&) { return false; }},
    versioned_kind<&Layout::type_alias, type_alias_fields>("TypeAliasType", type_alias_names),
};

}  // namespace

std::span<const ObjectKind> typing_kinds() { return kinds_of_typing; }

}  // namespace heapsift
