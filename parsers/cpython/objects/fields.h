#pragma once

// Kinds whose references are pointer fields of one C struct, so that a table is all they need.

#include "parsers/cpython/object_kind.h"

namespace heapsift {

/// A pointer field of a struct of the layout, and the name of its reference.
template <class Struct>
struct ReferenceField {
    LayoutOffset Struct::*field;
    FieldName name;
    ReferenceKind kind = ReferenceKind::strong;
};

/// A visit_references that visits the fields in this order, except those that the version lacks.
template <auto Struct, const auto& Fields>
void visit_fields(const ObjectReader& object, ReferenceVisitor& visit) {
    for (const auto& field : Fields)
        visit.named(object.pointer(object.layout().*Struct.*(field.field)), field.name, field.kind);
}

/// A struct_size with the size of the layout's struct.
template <auto Struct>
LayoutOffset struct_size(const Layout& layout) {
    return (layout.*Struct).size;
}

template <auto Struct, const auto& Fields>
constexpr ObjectKind fields_kind(const char* name, std::span<const char* const> type_names) {
    return {.name = name,
            .type_names = type_names,
            .visit_references = visit_fields<Struct, Fields>,
            .struct_size = struct_size<Struct>};
}

}  // namespace heapsift
