// numpy.ndarray, its scalars and dtypes.
//
// An array that owns its data owns one block of it, and always one small block with shape and strides. A view
// owns neither the data nor a copy: its `base` does. ndarray takes no part in garbage collection and reports
// that reference to nobody, so it is hidden, as are the objects inside an object array. Source:
// arrayobject.c, methods.c (array_sizeof), scalartypes.c.src (gentype_sizeof).

#include "parsers/cpython/float_text.h"
#include "parsers/numpy/array_layout.h"
#include "parsers/numpy/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace heapsift {

namespace {

constexpr std::uint64_t at_buffer_info = 80, at_mem_handler = 88;
constexpr std::uint64_t scalar_value = 16;

/// sizeof(PyArrayObject_fields) of this NumPy, whatever a subclass adds: 80 up to 1.19, 88 up to 1.21, then
/// 96.
std::uint64_t fields_size(const ObjectReader& object) {
    const TypeTable& types = object.heap().types();
    const TypeInfo* at = &object.type();
    while (at->base != no_type && types[at->base].base != no_type) at = &types[at->base];
    return at->basicsize;
}

std::uint64_t array_size(const ObjectReader& object) {
    const auto facts = array_facts(object);
    // Up to 1.19 array_sizeof also took an ndarray for an instance of a subclass.
    const std::uint64_t fields = fields_size(object);
    const std::uint64_t basicsize = fields <= at_buffer_info ? fields : object.type().basicsize;
    if (!facts) return basicsize;
    return basicsize + 16 * static_cast<std::uint64_t>(facts->nd) + (facts->owns_data() ? facts->nbytes : 0);
}

void array_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto facts = array_facts(object);
    if (!facts) return;
    if (!facts->dimensions.is_null())
        visit.visit(facts->dimensions, 16 * static_cast<std::uint64_t>(std::max(facts->nd, 1)), false);
    if (facts->owns_data() && !facts->data.is_null())
        visit.visit(facts->data, std::max<std::uint64_t>(facts->nbytes, 1), true);
}

void array_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto facts = array_facts(object);
    if (!facts) return;
    visit.named(facts->base, ".base", ReferenceKind::hidden);
    visit.named(facts->descr, ".dtype", ReferenceKind::hidden);
    if (fields_size(object) > at_mem_handler)
        visit.named(object.heap().pointer(object.at(at_mem_handler)), ".<mem_handler>",
                    ReferenceKind::hidden);
    // Elements belong to the owner; views share them.
    if (!facts->owns_data() || facts->data.is_null() || facts->itemsize == 0) return;
    const std::vector<std::uint64_t> places = object_places(object.heap(), facts->descr);
    if (places.empty()) return;
    const std::uint64_t words =
        object.readable_items(facts->data, static_cast<std::int64_t>(facts->nbytes / 8));
    const bool row_of_objects = facts->nd == 1 && facts->itemsize == 8;
    const auto form = row_of_objects ? ReferenceName::Form::index : ReferenceName::Form::element;
    for (std::uint64_t i = 0; (i + 1) * facts->itemsize <= words * 8; ++i)
        for (const std::uint64_t place : places) {
            const std::uint64_t at = i * facts->itemsize + place;
            const Address target = object.heap().pointer(facts->data + at);
            if (!target.is_null())
                visit.visit(target, ReferenceKind::hidden,
                            {form, "", row_of_objects ? i : at, object.address()});
        }
}

ShortValue array_describe(const ObjectReader& object, std::size_t) {
    const auto facts = array_facts(object);
    if (!facts) return {};
    const auto descr = descr_facts(object.heap(), facts->descr);
    std::string text = shape_text(*facts) + " " + (descr ? descr->name() : "?");
    if (!facts->base.is_null() && !facts->owns_data()) text += ", a view";
    if (array_lacks_bytes(object, *facts)) text += ", not saved";
    return {ShortValue::Kind::summary, std::move(text), 0};
}

bool array_plausible(const ObjectReader& object) { return array_facts(object).has_value(); }

/// The size of a scalar's value, which follows the header, by the name of its type.
std::uint64_t scalar_itemsize(const ObjectReader& object) {
    const PythonHeap& heap = object.heap();
    const TypeInfo* at = &object.type();
    while (at->python_class && at->base != no_type) at = &heap.types()[at->base];
    const std::string& name = at->name;
    if (name == "numpy.bool_" || name == "numpy.bool") return 1;
    const std::size_t digit = name.find_first_of("0123456789");
    if (name == "numpy.datetime64" || name == "numpy.timedelta64") return 8;
    if (name == "numpy.object_") return 8;
    if (digit != std::string::npos)
        return static_cast<std::uint64_t>(std::strtoul(name.c_str() + digit, nullptr, 10)) / 8;
    if (name == "numpy.longdouble") return 16;
    if (name == "numpy.clongdouble") return 32;
    return 8;  // longlong, ulonglong, intc and the like: intc is 4
}

std::uint64_t scalar_size(const ObjectReader& object) {
    const PythonHeap& heap = object.heap();
    const TypeInfo* at = &object.type();
    while (at->python_class && at->base != no_type) at = &heap.types()[at->base];
    std::uint64_t bytes = scalar_itemsize(object);
    if (at->name == "numpy.intc" || at->name == "numpy.uintc") bytes = 4;
    if (at->name == "numpy.bytes_")
        bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(object.var_size(), 0));
    if (at->name == "numpy.void") {
        const auto descr = descr_facts(heap, heap.pointer(object.at(void_descr)));
        bytes = descr ? descr->itemsize : 0;
    }
    // gentype_sizeof: object.__sizeof__ (numpy.bytes_ has items, as bytes does), plus the value once more.
    return basic_size(object) + bytes;
}

ShortValue scalar_describe(const ObjectReader& object, std::size_t) {
    const std::string& name = object.type().name;
    const Address value = object.at(scalar_value);
    const PythonHeap& heap = object.heap();
    std::string text;
    double number = 0;  // of one that may be inf or nan
    if (name == "numpy.float64")
        text = float_text(number = heap.integer<double>(value));
    else if (name == "numpy.float32")
        text = float_text(heap.integer<float>(value)), number = heap.integer<float>(value);
    else if (name == "numpy.int64")
        text = fmt::format("{}", heap.integer<std::int64_t>(value));
    else if (name == "numpy.int32")
        text = fmt::format("{}", heap.integer<std::int32_t>(value));
    else if (name == "numpy.uint8")
        text = fmt::format("{}", heap.integer<std::uint8_t>(value));
    else
        return {};
    const std::size_t length = text.size();
    return {.kind = ShortValue::Kind::literal,
            .text = std::move(text),
            .length = length,
            .finite = std::isfinite(number),
            .nan = std::isnan(number)};
}

// A void scalar is an element of a record array: its size is in its dtype, its bytes are its own or its
// base's.

void void_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto flags = object.heap().integer<std::uint32_t>(object.at(void_flags));
    const Address data = object.heap().pointer(object.at(void_obval));
    const auto descr = descr_facts(object.heap(), object.heap().pointer(object.at(void_descr)));
    if ((flags & array_flag_owns_data) && !data.is_null() && descr)
        visit.visit(data, std::max<std::uint64_t>(descr->itemsize, 1), true);
}

void void_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.heap().pointer(object.at(void_descr)), ".dtype", ReferenceKind::hidden);
    visit.named(object.heap().pointer(object.at(void_base)), ".base", ReferenceKind::hidden);
}

void dtype_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto facts = descr_facts(object.heap(), object.address());
    if (!facts) return;
    visit.named(object.heap().pointer(object.at(16)), ".type", ReferenceKind::hidden);
    visit.named(facts->fields, ".fields", ReferenceKind::hidden);
    visit.named(facts->names, ".names", ReferenceKind::hidden);
    visit.named(facts->user_metadata, ".metadata", ReferenceKind::hidden);
    visit.named(facts->na_object, ".na_object", ReferenceKind::hidden);
    if (facts->subarray.is_null()) return;
    visit.named(object.heap().pointer(facts->subarray), ".base", ReferenceKind::hidden);
    visit.named(object.heap().pointer(facts->subarray + 8), ".shape", ReferenceKind::hidden);
}

ShortValue dtype_describe(const ObjectReader& object, std::size_t) {
    const auto facts = descr_facts(object.heap(), object.address());
    return facts ? ShortValue{ShortValue::Kind::summary, facts->name(), 0} : ShortValue{};
}

bool dtype_plausible(const ObjectReader& object) {
    const PythonHeap& heap = object.heap();
    const auto facts = descr_facts(heap, object.address());
    if (!facts || std::string_view("?biufcmMOSUVTa").find(facts->kind) == std::string_view::npos)
        return false;
    return heap.types().find(heap.pointer(object.at(16))) != no_type;  // the class of its scalars
}

constexpr const char* array_names[] = {"numpy.ndarray"};
constexpr const char* scalar_names[] = {"numpy.generic",
                                        "numpy.number",
                                        "numpy.integer",
                                        "numpy.signedinteger",
                                        "numpy.unsignedinteger",
                                        "numpy.inexact",
                                        "numpy.floating",
                                        "numpy.complexfloating",
                                        "numpy.flexible",
                                        "numpy.character",
                                        "numpy.bool_",
                                        "numpy.bool",
                                        "numpy.int8",
                                        "numpy.int16",
                                        "numpy.int32",
                                        "numpy.int64",
                                        "numpy.uint8",
                                        "numpy.uint16",
                                        "numpy.uint32",
                                        "numpy.uint64",
                                        "numpy.longlong",
                                        "numpy.ulonglong",
                                        "numpy.intc",
                                        "numpy.uintc",
                                        "numpy.float16",
                                        "numpy.float32",
                                        "numpy.float64",
                                        "numpy.float128",
                                        "numpy.longdouble",
                                        "numpy.complex64",
                                        "numpy.complex128",
                                        "numpy.complex256",
                                        "numpy.clongdouble",
                                        "numpy.datetime64",
                                        "numpy.timedelta64"};
constexpr const char* void_names[] = {"numpy.void"};
constexpr const char* dtype_names[] = {"numpy.dtype",
                                       "numpy._ComplexAbstractDType",
                                       "numpy._FloatAbstractDType",
                                       "numpy._IntegerAbstractDType",
                                       "numpy.dtype[bool_]",
                                       "numpy.dtype[bytes_]",
                                       "numpy.dtype[complex128]",
                                       "numpy.dtype[complex256]",
                                       "numpy.dtype[complex64]",
                                       "numpy.dtype[datetime64]",
                                       "numpy.dtype[float128]",
                                       "numpy.dtype[float16]",
                                       "numpy.dtype[float32]",
                                       "numpy.dtype[float64]",
                                       "numpy.dtype[int16]",
                                       "numpy.dtype[int32]",
                                       "numpy.dtype[int64]",
                                       "numpy.dtype[int8]",
                                       "numpy.dtype[longlong]",
                                       "numpy.dtype[object_]",
                                       "numpy.dtype[str_]",
                                       "numpy.dtype[timedelta64]",
                                       "numpy.dtype[uint16]",
                                       "numpy.dtype[uint32]",
                                       "numpy.dtype[uint64]",
                                       "numpy.dtype[uint8]",
                                       "numpy.dtype[ulonglong]",
                                       "numpy.dtype[void]",
                                       "numpy.dtypes.BoolDType",
                                       "numpy.dtypes.ByteDType",
                                       "numpy.dtypes.BytesDType",
                                       "numpy.dtypes.CLongDoubleDType",
                                       "numpy.dtypes.Complex128DType",
                                       "numpy.dtypes.Complex64DType",
                                       "numpy.dtypes.DateTime64DType",
                                       "numpy.dtypes.Float16DType",
                                       "numpy.dtypes.Float32DType",
                                       "numpy.dtypes.Float64DType",
                                       "numpy.dtypes.Int16DType",
                                       "numpy.dtypes.Int32DType",
                                       "numpy.dtypes.Int64DType",
                                       "numpy.dtypes.Int8DType",
                                       "numpy.dtypes.IntDType",
                                       "numpy.dtypes.LongDType",
                                       "numpy.dtypes.LongDoubleDType",
                                       "numpy.dtypes.LongLongDType",
                                       "numpy.dtypes.ObjectDType",
                                       "numpy.dtypes.ShortDType",
                                       "numpy.dtypes.StrDType",
                                       "numpy.dtypes.StringDType",
                                       "numpy.dtypes.TimeDelta64DType",
                                       "numpy.dtypes.UByteDType",
                                       "numpy.dtypes.UInt16DType",
                                       "numpy.dtypes.UInt32DType",
                                       "numpy.dtypes.UInt64DType",
                                       "numpy.dtypes.UInt8DType",
                                       "numpy.dtypes.UIntDType",
                                       "numpy.dtypes.ULongDType",
                                       "numpy.dtypes.ULongLongDType",
                                       "numpy.dtypes.UShortDType",
                                       "numpy.dtypes.VoidDType",
                                       "numpy.dtypes._ComplexAbstractDType",
                                       "numpy.dtypes._FloatAbstractDType",
                                       "numpy.dtypes._IntegerAbstractDType",
                                       "numpy.dtypes._PyComplexDType",
                                       "numpy.dtypes._PyFloatDType",
                                       "numpy.dtypes._PyLongDType"};

}  // namespace

const ObjectKind ndarray_kind = {.name = "ndarray",
                                 .type_names = array_names,
                                 .size = array_size,
                                 .visit_buffers = array_buffers,
                                 .visit_references = array_references,
                                 .element_name = element_name,
                                 .describe = array_describe,
                                 .plausible = array_plausible};
const ObjectKind numpy_scalar_kind = {
    .name = "numpy scalar", .type_names = scalar_names, .size = scalar_size, .describe = scalar_describe};
const ObjectKind numpy_void_kind = {
    .name = "numpy.void",
    .type_names = void_names,
    .size = scalar_size,
    .body_size = [](const ObjectReader& o) -> std::uint64_t { return o.type().basicsize; },
    .visit_buffers = void_buffers,
    .visit_references = void_references};
const ObjectKind numpy_dtype_kind = {.name = "dtype",
                                     .type_names = dtype_names,
                                     .visit_references = dtype_references,
                                     .describe = dtype_describe,
                                     .plausible = dtype_plausible};

}  // namespace heapsift
