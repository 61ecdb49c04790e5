// Instances of ctypes, functions, callbacks; the classes, and what ctypes knows of a class: up to 3.12 the
// class's dict holds it, since then it follows the class itself. (_ctypes/_ctypes.c, callproc.c, cfield.c,
// callbacks.c, stgdict.c)

#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

namespace heapsift {

namespace {

constexpr std::uint64_t largest_ctypes_count = std::uint64_t{1} << 40;

std::uint64_t ctypes_count(const ObjectReader& object, LayoutOffset field) {
    const auto n = object.integer<std::int64_t>(field);
    return n > 0 && n < static_cast<std::int64_t>(largest_ctypes_count) ? static_cast<std::uint64_t>(n) : 0;
}

std::uint64_t ctypes_text_size(const ObjectReader& object, LayoutOffset field) {
    const auto text = object.heap().memory().read_c_string(object.pointer(field), 1 << 20);
    return text ? text->size() + 1 : 0;
}

std::uint64_t stgdict_size(const ObjectReader& object) {
    const Layout& l = object.layout();
    // The base counts the type's whole basicsize, and then StgDict's own part is added once more.
    std::uint64_t size = dict_kind.size(object);
    if (!l.stgdict.size.present()) return size;
    size += *l.stgdict.size - *l.dict.size;
    if (!object.pointer(l.stgdict.format).is_null()) size += ctypes_text_size(object, l.stgdict.format);
    const auto ndim = object.integer<std::int32_t>(l.stgdict.ndim);
    if (ndim > 0 && ndim < 64) size += 8 * static_cast<std::uint64_t>(ndim);
    if (!object.pointer(l.stgdict.ffi_elements).is_null())
        size += 8 * (ctypes_count(object, l.stgdict.length) + 1);
    return size;
}

/// What ctypes knows of one of its classes, since 3.13: it follows the part that the class has as a type
/// (PyObject_GetTypeData).
Address stginfo(const ObjectReader& object) {
    const TypeInfo* at = &object.type();
    const auto& types = object.heap().types();
    while (at->known != KnownType::ctypes_type && at->base != no_type) at = &types[at->base];
    if (at->base == no_type || !object.layout().stginfo.size.present()) return {};
    const Address info = object.at((types[at->base].basicsize + 15) / 16 * 16);
    return object.heap().integer<std::int32_t>(info + *object.layout().stginfo.initialized) ? info
                                                                                            : Address();
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
        if (length >= 0 && length < static_cast<std::int64_t>(largest_ctypes_count))
            size += 8 * (static_cast<std::uint64_t>(length) + 1);
    }
    const auto ndim = heap.integer<std::int32_t>(info + *l.ndim);
    if (ndim > 0 && ndim < 64) size += 8 * static_cast<std::uint64_t>(ndim);
    return size;
}

/// Like any dict, it reports only its items.
void stgdict_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().stgdict;
    dict_kind.visit_references(object, visit);
    visit.named(object.pointer(l.proto), ".<type>", ReferenceKind::hidden);
    visit.named(object.pointer(l.argtypes), ".<argument types>", ReferenceKind::hidden);
    visit.named(object.pointer(l.converters), ".<converters>", ReferenceKind::hidden);
    visit.named(object.pointer(l.restype), ".<result type>", ReferenceKind::hidden);
    visit.named(object.pointer(l.checker), ".<checker>", ReferenceKind::hidden);
}

void class_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const PythonHeap& heap = object.heap();
    type_kind.visit_references(object, visit);
    const Address info = stginfo(object);
    if (info.is_null()) return;
    const auto& l = object.layout().stginfo;
    visit.named(heap.pointer(info + *l.proto), ".<type>");
    visit.named(heap.pointer(info + *l.argtypes), ".<argument types>");
    visit.named(heap.pointer(info + *l.converters), ".<converters>");
    visit.named(heap.pointer(info + *l.restype), ".<result type>");
    visit.named(heap.pointer(info + *l.checker), ".<checker>");
    visit.named(heap.pointer(info + *l.module), ".<module>");
    if (l.pointer_type.present()) visit.named(heap.pointer(info + *l.pointer_type), ".<pointer type>");
}

/// Up to 3.12 a structure, a union, a pointer or a function type reports what its dict owns: the type that it
/// points at.
void pointing_class_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const PythonHeap& heap = object.heap();
    class_references(object, visit);
    const auto& l = object.layout().stgdict;
    const Address dict = l.proto.present() ? heap.type_dict(object.address()) : Address();
    const TypeId dict_type = dict.is_null() ? no_type : heap.type_of(dict);
    if (dict_type != no_type && heap.types()[dict_type].basicsize == *l.size)
        visit.named(heap.pointer(dict + *l.proto), ".<type>", ReferenceKind::reported);
}

/// The bytes of a value that does not fit into the object, which owns them unless it shows another's. They
/// count as numbers, whatever they look like: what a pointer in them keeps alive is in `_objects`.
void data_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const auto& l = object.layout().cdata;
    const Address data = object.pointer(l.b_ptr);
    if (!l.b_value.present() || data.is_null() || data == object.at(*l.b_value) ||
        object.integer<std::int32_t>(l.b_needsfree) == 0)
        return;
    visit.visit(data, std::max<std::uint64_t>(ctypes_count(object, l.b_size), 1), false);
}

constexpr const char* stgdict_names[] = {"StgDict", "_ctypes.StgDict"};
constexpr const char* class_names[] = {"_ctypes.CType_Type", "_ctypes.PyCArrayType", "_ctypes.PyCSimpleType"};
constexpr const char* pointing_class_names[] = {"_ctypes.PyCStructType", "_ctypes.UnionType",
                                                "_ctypes.PyCPointerType", "_ctypes.PyCFuncPtrType"};

constexpr const char* cdata_names[] = {"_ctypes._CData", "_ctypes.Structure", "_ctypes.Union",
                                       "_ctypes.Array",  "_ctypes._Pointer",  "_ctypes._SimpleCData"};
constexpr const char* cfuncptr_names[] = {"_ctypes.CFuncPtr", "_ctypes.PyCFuncPtr"};
constexpr const char* carg_names[] = {"_ctypes.CArgObject", "CArgObject"};
constexpr const char* cfield_names[] = {"_ctypes.CField"};
constexpr const char* cthunk_names[] = {"_ctypes.CThunkObject"};
constexpr const char* cstruct_param_names[] = {"_ctypes.StructParam_Type"};
constexpr const char* dict_remover_names[] = {"_ctypes.DictRemover"};

constexpr VersionedField<cdata_layout> cdata_fields[] = {{&cdata_layout::b_objects, "._objects"},
                                                         {&cdata_layout::b_base, "._b_base_"}};
constexpr VersionedField<cfuncptr_layout> cfuncptr_fields[] = {
    {&cfuncptr_layout::callable, ".<callable>"},
    {&cfuncptr_layout::restype, ".restype"},
    {&cfuncptr_layout::checker, ".<checker>"},
    {&cfuncptr_layout::errcheck, ".errcheck"},
    {&cfuncptr_layout::argtypes, ".argtypes"},
    {&cfuncptr_layout::converters, ".<converters>"},
    {&cfuncptr_layout::paramflags, ".<parameter flags>"},
    {&cfuncptr_layout::thunk, ".<thunk>"},
    {&cfuncptr_layout::b_objects, "._objects"},
    {&cfuncptr_layout::b_base, "._b_base_"}};
constexpr VersionedField<carg_layout> carg_fields[] = {{&carg_layout::obj, "._obj", 12}};
constexpr VersionedField<cfield_layout> cfield_fields[] = {{&cfield_layout::proto, ".<type>"}};
constexpr VersionedField<cthunk_layout> cthunk_fields[] = {{&cthunk_layout::converters, ".<converters>"},
                                                           {&cthunk_layout::callable, ".<callable>"},
                                                           {&cthunk_layout::restype, ".<result type>"}};
constexpr VersionedField<cstruct_param_layout> cstruct_param_fields[] = {
    {&cstruct_param_layout::keep, ".<structure>", never}};
constexpr VersionedField<dict_remover_layout> dict_remover_fields[] = {
    {&dict_remover_layout::key, ".<key>", 12}, {&dict_remover_layout::dict, ".<dict>", 12}};

const ObjectKind kinds_of_ctypes[] = {
    {.name = "StgDict",
     .type_names = stgdict_names,
     .size = stgdict_size,
     .visit_buffers = dict_kind.visit_buffers,
     .visit_references = stgdict_references,
     .describe = dict_kind.describe,
     .struct_size = struct_size<&Layout::stgdict>},
    {.name = "ctypes class",
     .type_names = class_names,
     .size = ctypes_class_size,
     .body_size = type_kind.body_size,
     .visit_buffers = type_kind.visit_buffers,
     .visit_references = class_references,
     .describe = type_kind.describe},
    {.name = "ctypes class that points",
     .type_names = pointing_class_names,
     .size = ctypes_class_size,
     .body_size = type_kind.body_size,
     .visit_buffers = type_kind.visit_buffers,
     .visit_references = pointing_class_references,
     .describe = type_kind.describe},
    {.name = "ctypes data",
     .type_names = cdata_names,
     .visit_buffers = data_buffers,
     .visit_references = visit_versioned_fields<&Layout::cdata, cdata_fields>,
     .struct_size = struct_size<&Layout::cdata>},
    versioned_kind<&Layout::cfuncptr, cfuncptr_fields>("ctypes function", cfuncptr_names),
    versioned_kind<&Layout::carg, carg_fields>("ctypes argument", carg_names),
    versioned_kind<&Layout::cfield, cfield_fields>("ctypes field", cfield_names),
    versioned_kind<&Layout::cthunk, cthunk_fields>("ctypes thunk", cthunk_names),
    versioned_kind<&Layout::cstruct_param, cstruct_param_fields>("ctypes structure argument",
                                                                 cstruct_param_names),
    versioned_kind<&Layout::dict_remover, dict_remover_fields>("ctypes dict remover", dict_remover_names),
};

}  // namespace

std::span<const ObjectKind> ctypes_kinds() { return kinds_of_ctypes; }

}  // namespace heapsift
