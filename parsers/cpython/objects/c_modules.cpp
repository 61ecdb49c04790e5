// Types of the standard library's C modules whose __sizeof__ counts more than their header: struct.Struct,
// itertools' combinatorics, Decimal. (_struct.c, itertoolsmodule.c, _decimal.c)

#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t largest_combination = std::uint64_t{1} << 40;

std::uint64_t tuple_length(const ObjectReader& object, LayoutOffset field) {
    const Address tuple = object.pointer(field);
    const std::int64_t n = tuple.is_null() ? 0 : object.heap().var_size(tuple);
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(n, 0, 1 << 30));
}

std::uint64_t combination_count(const ObjectReader& object, LayoutOffset field) {
    const auto n = object.integer<std::int64_t>(field);
    return n > 0 && n < static_cast<std::int64_t>(largest_combination) ? static_cast<std::uint64_t>(n) : 0;
}

void buffer(const ObjectReader& object, LayoutOffset field, std::uint64_t bytes, BufferVisitor& visit) {
    if (const Address start = object.pointer(field); !start.is_null())
        visit.visit(start, std::max<std::uint64_t>(bytes, 1), false);
}

std::uint64_t format_codes(const ObjectReader& object) {
    const auto& l = object.layout();
    const Address codes = object.pointer(l.struct_.s_codes);
    std::uint64_t n = 0;
    while (!codes.is_null() && n < (1 << 20) &&
           !object.heap().pointer(codes + n * *l.format_code.size + *l.format_code.fmtdef).is_null())
        ++n;
    return n;
}

std::uint64_t struct_module_size(const ObjectReader& object) {
    return object.type().basicsize + *object.layout().format_code.size * (format_codes(object) + 1);
}

void struct_buffers(const ObjectReader& object, BufferVisitor& visit) {
    buffer(object, object.layout().struct_.s_codes,
           *object.layout().format_code.size * (format_codes(object) + 1), visit);
}

void struct_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().struct_.s_format), ".<format>", reported_since(object, 10));
}

std::uint64_t product_size(const ObjectReader& object) {
    return object.type().basicsize + 8 * tuple_length(object, object.layout().product.pools);
}

void product_buffers(const ObjectReader& object, BufferVisitor& visit) {
    buffer(object, object.layout().product.indices, 8 * tuple_length(object, object.layout().product.pools),
           visit);
}

void product_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().product.pools), ".<pools>");
    visit.named(object.pointer(object.layout().product.result), ".<result>");
}

std::uint64_t combinations_size(const ObjectReader& object) {
    return object.type().basicsize + 8 * combination_count(object, object.layout().combinations.r);
}

void combinations_buffers(const ObjectReader& object, BufferVisitor& visit) {
    buffer(object, object.layout().combinations.indices, 8 * combination_count(object, object.layout().combinations.r),
           visit);
}

void combinations_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().combinations.pool), ".<pool>");
    visit.named(object.pointer(object.layout().combinations.result), ".<result>");
}

std::uint64_t permutations_size(const ObjectReader& object) {
    const auto& l = object.layout().permutations;
    return object.type().basicsize + 8 * tuple_length(object, l.pool) + 8 * combination_count(object, l.r);
}

void permutations_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto& l = object.layout().permutations;
    buffer(object, l.indices, 8 * tuple_length(object, l.pool), visit);
    buffer(object, l.cycles, 8 * combination_count(object, l.r), visit);
}

void permutations_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().permutations.pool), ".<pool>");
    visit.named(object.pointer(object.layout().permutations.result), ".<result>");
}

// MPD_STATIC_DATA | MPD_SHARED_DATA | MPD_CONST_DATA (mpdecimal.h): the object does not own the coefficient.
constexpr std::uint8_t foreign_data = 32 | 64 | 128;

std::uint64_t decimal_bytes(const ObjectReader& object) {
    const auto& l = object.layout().decimal;
    return object.integer<std::uint8_t>(l.dec_flags) & foreign_data ? 0 : 8 * combination_count(object, l.dec_alloc);
}

std::uint64_t decimal_size(const ObjectReader& object) {
    return object.type().basicsize + decimal_bytes(object);
}

void decimal_buffers(const ObjectReader& object, BufferVisitor& visit) {
    if (const std::uint64_t bytes = decimal_bytes(object))
        buffer(object, object.layout().decimal.dec_data, bytes, visit);
}

constexpr const char* struct_names[] = {"_struct.Struct", "Struct"};
constexpr const char* product_names[] = {"itertools.product"};
constexpr const char* combinations_names[] = {"itertools.combinations",
                                              "itertools.combinations_with_replacement"};
constexpr const char* permutations_names[] = {"itertools.permutations"};
constexpr const char* decimal_names[] = {"decimal.Decimal"};

}  // namespace

const ObjectKind struct_kind = {.name = "Struct",
                                .type_names = struct_names,
                                .size = struct_module_size,
                                .visit_buffers = struct_buffers,
                                .visit_references = struct_references};
const ObjectKind product_kind = {.name = "product",
                                 .type_names = product_names,
                                 .size = product_size,
                                 .visit_buffers = product_buffers,
                                 .visit_references = product_references};
const ObjectKind combinations_kind = {.name = "combinations",
                                      .type_names = combinations_names,
                                      .size = combinations_size,
                                      .visit_buffers = combinations_buffers,
                                      .visit_references = combinations_references};
const ObjectKind permutations_kind = {.name = "permutations",
                                      .type_names = permutations_names,
                                      .size = permutations_size,
                                      .visit_buffers = permutations_buffers,
                                      .visit_references = permutations_references};
const ObjectKind decimal_kind = {
    .name = "Decimal", .type_names = decimal_names, .size = decimal_size, .visit_buffers = decimal_buffers};
}  // namespace heapsift
