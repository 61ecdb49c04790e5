// Methods and their relatives: bound methods, C functions, descriptors, method wrappers. (classobject.h,
// methodobject.h, descrobject.h)

#include "parsers/cpython/objects/kinds.h"

#include <fmt/format.h>

namespace heapsift {

namespace {

constexpr std::int32_t meth_method = 0x200;  // METH_METHOD: the function's defining class is kept as well

std::string callable_text(const PythonHeap& heap, Address str) {
    return heap.unicode_text(str, 200).value_or("?");
}

void method_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().method.im_func), ".__func__");
    visit.named(object.pointer(object.layout().method.im_self), ".__self__");
    visit.named(object.pointer(object.layout().method.im_class), ".im_class");
}

ShortValue method_describe(const ObjectReader& object, std::size_t) {
    const Address function = object.pointer(object.layout().method.im_func);
    const auto& heap = object.heap();
    const auto& fields = object.layout().function;
    const LayoutOffset called = fields.func_qualname.present() ? fields.func_qualname : fields.func_name;
    const auto name = heap.unicode_text(heap.pointer(function + *called), 200);
    return {ShortValue::Kind::name, "<bound method " + name.value_or("?") + ">", 0};
}

std::int32_t builtin_flags(const ObjectReader& object) {
    const Address def = object.pointer(object.layout().builtin_function.m_ml);
    return def.is_null() ? 0
                         : object.heap().integer<std::int32_t>(def + *object.layout().method_def.ml_flags);
}

void builtin_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().builtin_function;
    visit.named(object.pointer(l.m_self), ".__self__");
    visit.named(object.pointer(l.m_module), ".__module__");
    if (builtin_flags(object) & meth_method)
        visit.named(object.pointer(object.layout().builtin_method.mm_class), ".<class>");
}

ShortValue builtin_describe(const ObjectReader& object, std::size_t) {
    const Address def = object.pointer(object.layout().builtin_function.m_ml);
    const auto name = object.heap().memory().read_c_string(object.heap().pointer(def), 200);
    return {ShortValue::Kind::name, "<built-in function " + name.value_or("?") + ">", 0};
}

void descriptor_references(const ObjectReader& object, ReferenceVisitor& visit) {
    const auto& l = object.layout().descriptor;
    visit.named(object.pointer(l.d_type), ".__objclass__");
    visit.named(object.pointer(l.d_name), ".__name__", ReferenceKind::hidden);
    visit.named(object.pointer(l.d_qualname), ".__qualname__", ReferenceKind::hidden);
}

ShortValue descriptor_describe(const ObjectReader& object, std::size_t) {
    const auto& l = object.layout().descriptor;
    const TypeId owner = object.heap().types().find(object.pointer(l.d_type));
    return {ShortValue::Kind::name,
            fmt::format("<{} {}.{}>", object.type().name,
                        owner == no_type ? "?" : object.heap().types()[owner].name,
                        callable_text(object.heap(), object.pointer(l.d_name))),
            0};
}

void wrapper_references(const ObjectReader& object, ReferenceVisitor& visit) {
    visit.named(object.pointer(object.layout().wrapper.descr), ".<descriptor>");
    visit.named(object.pointer(object.layout().wrapper.self), ".__self__");
}

constexpr const char* method_names[] = {"method"};
constexpr const char* builtin_names[] = {"builtin_function_or_method", "builtin_method"};
constexpr const char* descriptor_names[] = {"method_descriptor", "classmethod_descriptor",
                                            "member_descriptor", "getset_descriptor", "wrapper_descriptor"};
constexpr const char* wrapper_names[] = {"method-wrapper"};

}  // namespace

const ObjectKind method_kind = {.name = "method",
                                .type_names = method_names,
                                .visit_references = method_references,
                                .describe = method_describe};
const ObjectKind builtin_function_kind = {.name = "builtin_function_or_method",
                                          .type_names = builtin_names,
                                          .visit_references = builtin_references,
                                          .describe = builtin_describe};
const ObjectKind descriptor_kind = {.name = "descriptor",
                                    .type_names = descriptor_names,
                                    .visit_references = descriptor_references,
                                    .describe = descriptor_describe};
const ObjectKind method_wrapper_kind = {
    .name = "method-wrapper", .type_names = wrapper_names, .visit_references = wrapper_references};

}  // namespace heapsift
