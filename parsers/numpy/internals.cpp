// What NumPy has besides arrays: ufuncs, methods of arrays, iterators, flags, classes of dtypes. Almost none
// of it takes part in collection, so almost all of its references are reported to nobody. Offsets differ
// between releases; the type's own tp_basicsize tells them apart, and an unknown one leaves the object to
// guesses. (numpy/ufuncobject.h, dtype_api.h, ndarraytypes.h, array_method.h, flagsobject.c,
// arrayfunction_override.c; 1.19 to 2.2)

#include "parsers/cpython/objects/kinds.h"
#include "parsers/numpy/kinds.h"

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::int32_t identity_is_value = -3;  // PyUFunc_IdentityValue

Address word(const ObjectReader& object, std::uint64_t offset) {
    return object.heap().pointer(object.at(offset));
}

void hidden(const ObjectReader& object, std::uint64_t offset, FieldName name, ReferenceVisitor& visit) {
    visit.named(word(object, offset), name, ReferenceKind::hidden);
}

// PyUFuncObject. Its end grew in 1.22 and 2.1; `dict` took the place of a reserved pointer.
constexpr std::uint64_t ufunc_identity = 28, ufunc_obj = 88, ufunc_userloops = 96, ufunc_dict = 152,
                        ufunc_identity_value = 208, ufunc_loops = 224;

void ufunc_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(word(object, ufunc_obj), ".<object>");
    if (object.heap().integer<std::int32_t>(object.at(ufunc_identity)) == identity_is_value)
        visit.named(word(object, ufunc_identity_value), ".identity");
    if (object.type().dictoffset == ufunc_dict) visit.named(word(object, ufunc_dict), ".__dict__");
    hidden(object, ufunc_userloops, ".<user loops>", visit);
    if (object.type().basicsize > ufunc_loops) hidden(object, ufunc_loops, ".<loops>", visit);
}

void array_iterator_references(const ObjectReader& object, ReferenceVisitor& visit) {
    hidden(object, 1320, ".base", visit);  // after five arrays of 32 numbers
}

/// numiter iterators, after 32 dimensions. There is room for 32, since 2.0 for 64.
void broadcast_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Address iterators = object.at(304);
    const auto count =
        static_cast<std::uint64_t>(std::clamp(object.heap().integer<std::int32_t>(object.at(16)), 0, 64));
    for (std::uint64_t i = 0; i < count && 304 + 8 * (i + 1) <= object.type().basicsize; ++i)
        visit.indexed(object.heap().pointer(iterators + 8 * i), i, ReferenceKind::hidden, ".iters");
}

void flags_references(const ObjectReader& object, ReferenceVisitor& visit) {
    hidden(object, 16, ".<array>", visit);
}

void dispatcher_references(const ObjectReader& object, ReferenceVisitor& visit) {
    hidden(object, 24, ".__dict__", visit);
    hidden(object, 32, ".<relevant arguments>", visit);
    hidden(object, 40, "._implementation", visit);
    hidden(object, 48, ".<name of the dispatcher>", visit);
    hidden(object, 56, ".<public name>", visit);
}

LayoutOffset dispatcher_size(const Layout&) { return 64; }

/// `count` classes of dtypes in an array that the object owns.
void dtype_classes(const ObjectReader& object, Address classes, std::int32_t count, ReferenceVisitor& visit) {
    for (std::uint64_t i = 0; i < object.readable_items(classes, std::clamp(count, 0, 64)); ++i)
        visit.indexed(object.heap().pointer(classes + 8 * i), i, ReferenceKind::hidden, ".<dtypes>");
}

std::int32_t operands(const ObjectReader& object, Address method) {
    const PythonHeap& heap = object.heap();
    return std::clamp(heap.integer<std::int32_t>(method + 24), 0, 64) +
           std::clamp(heap.integer<std::int32_t>(method + 28), 0, 64);
}

/// Whether a method wraps another one. Some releases leave these fields as the allocator gave them, so they
/// are believed only if all are right.
bool wraps(const ObjectReader& object, Address method, Address classes, std::int32_t count) {
    const PythonHeap& heap = object.heap();
    const TypeId type = method.is_null() ? no_type : heap.type_of(method);
    if (type == no_type || heap.types()[type].address != object.type().address) return false;
    if (object.readable_items(classes, count) < static_cast<std::uint64_t>(count)) return false;
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(count); ++i)
        if (heap.types().find(heap.pointer(classes + 8 * i)) == no_type) return false;
    return true;
}

/// In 2.0, new slots for static data and a loop moved what a method wraps.
void array_method_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const std::uint64_t wrapped = object.type().basicsize <= 120 ? 88 : 120;
    const Address method = word(object, wrapped), classes = word(object, wrapped + 8);
    const std::int32_t count = operands(object, object.address());
    if (!wraps(object, method, classes, count)) return;
    visit.named(method, ".<wrapped>", ReferenceKind::hidden);
    dtype_classes(object, classes, count, visit);
}

bool array_method_plausible(const ObjectReader& object) {
    const auto in = object.heap().integer<std::int32_t>(object.at(24)),
               out = object.heap().integer<std::int32_t>(object.at(28));
    return in >= 0 && in <= 64 && out >= 0 && out <= 64;
}

void bound_array_method_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const Address method = word(object, 24);
    visit.named(method, ".<method>", ReferenceKind::hidden);
    if (!method.is_null()) dtype_classes(object, word(object, 16), operands(object, method), visit);
}

/// A class of dtypes: a type, followed (after what a heap type has) by its one instance and the class of its
/// scalars.
void dtype_class_references(const ObjectReader& object, ReferenceVisitor& visit) {
    type_kind.visit_references(object, visit);
    const std::uint64_t end = *object.layout().heap_type.size;
    visit.named(word(object, end), ".<singleton>");
    visit.named(word(object, end + 16), ".type");
}

constexpr const char* ufunc_names[] = {"numpy.ufunc"};
constexpr const char* array_iterator_names[] = {"numpy.flatiter"};
constexpr const char* broadcast_names[] = {"numpy.broadcast"};
constexpr const char* flags_names[] = {"numpy.flagsobj", "numpy.core.multiarray.flagsobj",
                                       "numpy._core.multiarray.flagsobj"};
constexpr const char* dispatcher_names[] = {"numpy._ArrayFunctionDispatcher"};
constexpr const char* array_method_names[] = {"numpy._ArrayMethod"};
constexpr const char* bound_array_method_names[] = {"numpy._BoundArrayMethod"};
constexpr const char* dtype_class_names[] = {"numpy._DTypeMeta"};
constexpr const char* calendar_names[] = {"numpy.busdaycalendar"};
constexpr const char* str_names[] = {"numpy.str_"};

const ObjectKind kinds[] = {
    {.name = "numpy.ufunc", .type_names = ufunc_names, .visit_references = ufunc_references},
    {.name = "array iterator",
     .type_names = array_iterator_names,
     .visit_references = array_iterator_references},
    {.name = "numpy.broadcast", .type_names = broadcast_names, .visit_references = broadcast_references},
    {.name = "array flags", .type_names = flags_names, .visit_references = flags_references},
    {.name = "array function",
     .type_names = dispatcher_names,
     .visit_references = dispatcher_references,
     .struct_size = dispatcher_size},
    {.name = "array method",
     .type_names = array_method_names,
     .visit_references = array_method_references,
     .plausible = array_method_plausible},
    {.name = "bound array method",
     .type_names = bound_array_method_names,
     .visit_references = bound_array_method_references},
    {.name = "class of dtypes",
     .type_names = dtype_class_names,
     .size = type_kind.size,
     .body_size = type_kind.body_size,
     .visit_buffers = type_kind.visit_buffers,
     .visit_references = dtype_class_references,
     .describe = type_kind.describe},
    {.name = "business day calendar", .type_names = calendar_names},
    {.name = "numpy.str_",
     .type_names = str_names,
     .size = str_kind.size,
     .visit_buffers = str_kind.visit_buffers,
     .describe = str_kind.describe},
};

}  // namespace

std::span<const ObjectKind> numpy_internal_kinds() { return kinds; }

}  // namespace heapsift
