// Types of C modules of the standard library whose __sizeof__ counts more than their header: struct.Struct, itertools'
// combinatorics, Decimal, Element, Pickler and Unpickler, the dict behind a ctypes class.
// (_struct.c, itertoolsmodule.c, _decimal.c, _elementtree.c, _pickle.c, _ctypes/stgdict.c)

#include "parsers/cpython/objects/kinds.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t sane = std::uint64_t{1} << 40;

std::uint64_t tuple_length(const ObjectReader& object, LayoutOffset field) {
    const Address tuple = object.pointer(field);
    const std::int64_t n = tuple.is_null() ? 0 : object.heap().var_size(tuple);
    return static_cast<std::uint64_t>(std::clamp<std::int64_t>(n, 0, 1 << 30));
}

std::uint64_t count_of(const ObjectReader& object, LayoutOffset field) {
    const auto n = object.integer<std::int64_t>(field);
    return n > 0 && n < static_cast<std::int64_t>(sane) ? static_cast<std::uint64_t>(n) : 0;
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

std::uint64_t struct_size(const ObjectReader& object) {
    return object.type().basicsize + *object.layout().format_code.size * (format_codes(object) + 1);
}

void struct_buffers(const ObjectReader& object, BufferVisitor& visit) {
    buffer(object, object.layout().struct_.s_codes, *object.layout().format_code.size * (format_codes(object) + 1), visit);
}

void struct_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().struct_.s_format), ".format", ReferenceKind::hidden);
}

std::uint64_t product_size(const ObjectReader& object) {
    return object.type().basicsize + 8 * tuple_length(object, object.layout().product.pools);
}

void product_buffers(const ObjectReader& object, BufferVisitor& visit) {
    buffer(object, object.layout().product.indices, 8 * tuple_length(object, object.layout().product.pools), visit);
}

void product_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().product.pools), ".<pools>");
    visit.named(object.pointer(object.layout().product.result), ".<result>");
}

std::uint64_t combinations_size(const ObjectReader& object) {
    return object.type().basicsize + 8 * count_of(object, object.layout().combinations.r);
}

void combinations_buffers(const ObjectReader& object, BufferVisitor& visit) {
    buffer(object, object.layout().combinations.indices, 8 * count_of(object, object.layout().combinations.r), visit);
}

void combinations_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().combinations.pool), ".<pool>");
    visit.named(object.pointer(object.layout().combinations.result), ".<result>");
}

std::uint64_t permutations_size(const ObjectReader& object) {
    const auto& l = object.layout().permutations;
    return object.type().basicsize + 8 * tuple_length(object, l.pool) + 8 * count_of(object, l.r);
}

void permutations_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto& l = object.layout().permutations;
    buffer(object, l.indices, 8 * tuple_length(object, l.pool), visit);
    buffer(object, l.cycles, 8 * count_of(object, l.r), visit);
}

void permutations_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().permutations.pool), ".<pool>");
    visit.named(object.pointer(object.layout().permutations.result), ".<result>");
}

// MPD_STATIC_DATA | MPD_SHARED_DATA | MPD_CONST_DATA (mpdecimal.h): the coefficient is not the object's own.
constexpr std::uint8_t foreign_data = 32 | 64 | 128;

std::uint64_t decimal_bytes(const ObjectReader& object) {
    const auto& l = object.layout().decimal;
    return object.integer<std::uint8_t>(l.dec_flags) & foreign_data ? 0 : 8 * count_of(object, l.dec_alloc);
}

std::uint64_t decimal_size(const ObjectReader& object) { return object.type().basicsize + decimal_bytes(object); }

void decimal_buffers(const ObjectReader& object, BufferVisitor& visit) {
    if (const std::uint64_t bytes = decimal_bytes(object)) buffer(object, object.layout().decimal.dec_data, bytes, visit);
}

struct ElementExtra {
    Address start;
    std::uint64_t length = 0;
    std::uint64_t external = 0;  // bytes of a children array of its own
};

ElementExtra element_extra(const ObjectReader& object) {
    const auto& l = object.layout().element_extra;
    ElementExtra extra;
    extra.start = object.pointer(object.layout().element.extra);
    if (extra.start.is_null()) return extra;
    extra.length = std::min(object.heap().integer<std::uint64_t>(extra.start + *l.length), sane);
    if (object.heap().pointer(extra.start + *l.children) != extra.start + *l.inline_children)
        extra.external = 8 * std::min(object.heap().integer<std::uint64_t>(extra.start + *l.allocated), sane);
    return extra;
}

std::uint64_t element_size(const ObjectReader& object) {
    const ElementExtra extra = element_extra(object);
    return object.type().basicsize + (extra.start.is_null() ? 0 : *object.layout().element_extra.size + extra.external);
}

void element_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const ElementExtra extra = element_extra(object);
    if (extra.start.is_null()) return;
    visit.visit(extra.start, *object.layout().element_extra.size, false);
    if (extra.external)
        visit.visit(object.heap().pointer(extra.start + *object.layout().element_extra.children), extra.external, false);
}

void element_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Layout& l = object.layout();
    visit.named(object.pointer(l.element.tag), ".tag");
    // The low bit of text and tail says that a list of strings waits to be joined.
    visit.named(Address(object.pointer(l.element.text).value & ~std::uint64_t{1}), ".text");
    visit.named(Address(object.pointer(l.element.tail).value & ~std::uint64_t{1}), ".tail");
    const ElementExtra extra = element_extra(object);
    if (extra.start.is_null()) return;
    visit.named(object.heap().pointer(extra.start + *l.element_extra.attrib), ".attrib");
    const Address children = object.heap().pointer(extra.start + *l.element_extra.children);
    for (std::uint64_t i = 0; i < object.readable_items(children, static_cast<std::int64_t>(extra.length)); ++i)
        visit.indexed(object.heap().pointer(children + 8 * i), i);
}

std::uint64_t bytes_size(const ObjectReader& object, Address bytes) {
    return *object.layout().bytes.ob_sval + 1 +
           static_cast<std::uint64_t>(std::max<std::int64_t>(object.heap().var_size(bytes), 0));
}

/// A field behind one that some builds of this version have and others lack: the type's own size tells by how much it moved.
/// (3.13.0 to 3.13.x: Pickler and Unpickler lost and regained the word behind persistent_id and persistent_load.)
LayoutOffset moved(const ObjectReader& object, LayoutOffset field, LayoutOffset struct_size) {
    const TypeInfo* at = &object.type();
    while (at->python_class && at->base != no_type) at = &object.heap().types()[at->base];
    return static_cast<std::uint32_t>(*field + at->basicsize - *struct_size);
}

std::uint64_t memo_entries(const ObjectReader& object, Address memo) {
    return memo.is_null()
               ? 0
               : std::min(object.heap().integer<std::uint64_t>(memo + *object.layout().pickler_memo.mt_allocated), sane);
}

std::uint64_t pickler_size(const ObjectReader& object) {
    const Layout& l = object.layout();
    std::uint64_t size = object.type().basicsize;
    const Address memo = object.pointer(l.pickler.memo);
    if (!memo.is_null()) size += *l.pickler_memo.size + 16 * memo_entries(object, memo);
    const Address output = object.pointer(moved(object, l.pickler.output_buffer, l.pickler.size));
    if (!output.is_null()) size += bytes_size(object, output);
    return size;
}

void pickler_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const Layout& l = object.layout();
    const Address memo = object.pointer(l.pickler.memo);
    if (memo.is_null()) return;
    visit.visit(memo, *l.pickler_memo.size, false);
    visit.visit(object.heap().pointer(memo + *l.pickler_memo.mt_table), 16 * memo_entries(object, memo), false);
}

std::uint64_t c_string_size(const ObjectReader& object, LayoutOffset field) {
    const auto text = object.heap().memory().read_c_string(object.pointer(field), 1 << 20);
    return text ? text->size() + 1 : 0;
}

std::uint64_t unpickler_size(const ObjectReader& object) {
    const auto& l = object.layout().unpickler;
    std::uint64_t size = object.type().basicsize;
    if (!object.pointer(l.memo).is_null()) size += 8 * count_of(object, l.memo_size);
    const LayoutOffset marks = moved(object, l.marks, l.size);
    if (!object.pointer(marks).is_null()) size += 8 * count_of(object, moved(object, l.marks_size, l.size));
    for (const LayoutOffset field : {l.input_line, l.encoding, l.errors}) {
        const LayoutOffset here = moved(object, field, l.size);
        if (!object.pointer(here).is_null()) size += c_string_size(object, here);
    }
    return size;
}

std::uint64_t stgdict_size(const ObjectReader& object) {
    const Layout& l = object.layout();
    // The base counts the type's whole basicsize, and what StgDict adds comes on top once more.
    std::uint64_t size = dict_kind.size(object);
    size += *l.stgdict.size - *l.dict.size;
    if (!object.pointer(l.stgdict.format).is_null()) size += c_string_size(object, l.stgdict.format);
    const auto ndim = object.integer<std::int32_t>(l.stgdict.ndim);
    if (ndim > 0 && ndim < 64) size += 8 * static_cast<std::uint64_t>(ndim);
    if (!object.pointer(l.stgdict.ffi_elements).is_null()) size += 8 * (count_of(object, l.stgdict.length) + 1);
    return size;
}

/// A ctypes class since 3.13: what ctypes knows of it lies behind the part that it has as a type (PyObject_GetTypeData).
Address stginfo(const ObjectReader& object) {
    const TypeInfo* at = &object.type();
    const auto& types = object.heap().types();
    while (at->name != "_ctypes.CType_Type" && at->base != no_type) at = &types[at->base];
    if (at->base == no_type || !object.layout().stginfo.size.present()) return {};
    const Address info = object.at((types[at->base].basicsize + 15) / 16 * 16);
    return object.heap().integer<std::int32_t>(info + *object.layout().stginfo.initialized) ? info : Address();
}

std::uint64_t ctypes_class_size(const ObjectReader& object) {
    std::uint64_t size = basic_size(object);
    const Address info = stginfo(object);
    if (info.is_null()) return size;
    const auto& l = object.layout().stginfo;
    const PythonHeap& heap = object.heap();
    if (const Address format = heap.pointer(info + *l.format); !format.is_null())
        size += heap.memory().read_c_string(format, 1 << 20).value_or("").size() + 1;
    if (!heap.pointer(info + *l.ffi_elements).is_null()) {
        const auto length = heap.integer<std::int64_t>(info + *l.length);
        if (length >= 0 && length < static_cast<std::int64_t>(sane)) size += 8 * (static_cast<std::uint64_t>(length) + 1);
    }
    const auto ndim = heap.integer<std::int32_t>(info + *l.ndim);
    if (ndim > 0 && ndim < 64) size += 8 * static_cast<std::uint64_t>(ndim);
    return size;
}

constexpr const char* ctypes_class_names[] = {"_ctypes.CType_Type"};
constexpr const char* struct_names[] = {"_struct.Struct", "Struct"};
constexpr const char* product_names[] = {"itertools.product"};
constexpr const char* combinations_names[] = {"itertools.combinations", "itertools.combinations_with_replacement"};
constexpr const char* permutations_names[] = {"itertools.permutations"};
constexpr const char* decimal_names[] = {"decimal.Decimal"};
constexpr const char* element_names[] = {"xml.etree.ElementTree.Element"};
constexpr const char* pickler_names[] = {"_pickle.Pickler"};
constexpr const char* unpickler_names[] = {"_pickle.Unpickler"};
constexpr const char* stgdict_names[] = {"StgDict", "_ctypes.StgDict"};

}  // namespace

const ObjectKind struct_kind = {.name = "Struct",
                                .type_names = struct_names,
                                .size = struct_size,
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
const ObjectKind element_kind = {.name = "Element",
                                 .type_names = element_names,
                                 .size = element_size,
                                 .visit_buffers = element_buffers,
                                 .visit_references = element_references};
const ObjectKind pickler_kind = {.name = "Pickler",
                                 .type_names = pickler_names,
                                 .size = pickler_size,
                                 .visit_buffers = pickler_buffers,
                                 .guesses = true,
                                 .size_counts_others = true};
const ObjectKind unpickler_kind = {.name = "Unpickler", .type_names = unpickler_names, .size = unpickler_size, .guesses = true};
const ObjectKind stgdict_kind = {.name = "StgDict", .type_names = stgdict_names, .size = stgdict_size, .guesses = true};

const ObjectKind ctypes_class_kind = {.name = "ctypes class",
                                      .type_names = ctypes_class_names,
                                      .size = ctypes_class_size,
                                      .body_size = type_kind.body_size,
                                      .visit_buffers = type_kind.visit_buffers,
                                      .visit_references = type_kind.visit_references,
                                      .describe = type_kind.describe,
                                      .guesses = true};

}  // namespace heapsift
