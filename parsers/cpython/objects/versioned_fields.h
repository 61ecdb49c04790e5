#pragma once

// Kinds whose references are pointer fields of one C struct, some of which only later versions report: types
// of extension modules came to take part in collection one after the other (3.9 to 3.13).

#include "parsers/cpython/build/quirks.h"
#include "parsers/cpython/objects/fields.h"

namespace heapsift {

inline constexpr int never = 99;

/// A pointer field of a struct of the layout. The object owns what it refers to; traverse has reported it
/// since 3.`reported_since`.
template <class Struct>
struct VersionedField {
    LayoutOffset Struct::*field;
    FieldName name;
    int reported_since = before_3;
};

/// The kind that a reference has in this version if traverse has reported it since 3.`minor`.
inline ReferenceKind reported_since(const ObjectReader& object, int minor) {
    return reports_since(object.layout(), minor) ? ReferenceKind::strong : ReferenceKind::hidden;
}

template <auto Struct, const auto& Fields>
void visit_versioned_fields(const ObjectReader& object, ReferenceVisitor& visit) {
    for (const auto& field : Fields)
        visit.named(object.pointer(object.layout().*Struct.*(field.field)), field.name,
                    reported_since(object, field.reported_since));
}

template <auto Struct, const auto& Fields>
constexpr ObjectKind versioned_kind(const char* name, std::span<const char* const> type_names) {
    return {.name = name,
            .type_names = type_names,
            .visit_references = visit_versioned_fields<Struct, Fields>,
            .struct_size = struct_size<Struct>};
}

}  // namespace heapsift
