// Functions, code, methods and descriptors, and small kinds with few fields: each field by its Python name,
// and which of them nothing reports.

#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr auto strong = ReferenceKind::strong;
constexpr auto hidden = ReferenceKind::hidden;

/// Puts a new object into `field` and expects it as the reference `name`, or no reference if this version
/// lacks the field.
void check_field(PythonHeapBuilder& heap, Address object, LayoutOffset field, const std::string& name,
                 ReferenceKind kind = strong) {
    if (!field.present()) {
        CHECK(reference(heap, object, name).target.is_null());
        return;
    }
    const Address target = heap.object("object");
    heap.set(object, field, target);
    INFO(name);
    CHECK(reference(heap, object, name) == Seen{target, name, kind});
}

Address make_code(PythonHeapBuilder& heap, const std::string& name, std::int64_t units = 0) {
    const auto& l = heap.layout().code;
    const Address code = heap.object("code", l.co_code_adaptive.present() ? units : 0);
    heap.set(code, l.co_filename, heap.str("/srv/app/load.py"));
    heap.set(code, l.co_name, heap.str(name));
    heap.set(code, l.co_qualname, heap.str("Loader." + name));
    heap.set(code, l.co_firstlineno, std::int32_t{12});
    heap.set(code, l.co_consts, heap.tuple({}));
    heap.set(code, l.co_names, heap.tuple({}));
    return code;
}

}  // namespace

TEST_CASE("function: every field by its Python name, nothing twice", "[cpython][function]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->function;
    const Address function = heap.object("function");
    CHECK(references(heap, function).empty());
    check_field(heap, function, l.func_code, ".__code__");
    check_field(heap, function, l.func_globals, ".__globals__");
    check_field(heap, function, l.func_builtins, ".__builtins__");
    check_field(heap, function, l.func_module, ".__module__");
    check_field(heap, function, l.func_defaults, ".__defaults__");
    check_field(heap, function, l.func_kwdefaults, ".__kwdefaults__");
    check_field(heap, function, l.func_doc, ".__doc__");
    check_field(heap, function, l.func_name, ".__name__");
    check_field(heap, function, l.func_qualname, ".__qualname__");
    check_field(heap, function, l.func_dict, ".__dict__");
    check_field(heap, function, l.func_closure, ".__closure__");
    check_field(heap, function, l.func_annotations, ".__annotations__");
    check_field(heap, function, l.func_typeparams, ".__type_params__");
    CHECK(references(heap, function).size() ==
          11U + (l.func_builtins.present() ? 1 : 0) + (l.func_typeparams.present() ? 1 : 0));
    CHECK(size_of(heap, function) == *l.size);
}

TEST_CASE("function: its value is module and qualified name", "[cpython][function]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address function = heap.object("function");
    heap.set(function, layout->function.func_qualname, heap.str("Loader.load"));
    CHECK(text_of(heap, function) == "<function Loader.load>");
    heap.set(function, layout->function.func_module, heap.str("app"));
    CHECK(text_of(heap, function) == "<function app.Loader.load>");
    CHECK(value_of(heap, function).kind == ShortValue::Kind::name);
}

TEST_CASE("code: constants and names are held, and nothing reports them", "[cpython][code]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->code;
    const Address code = make_code(heap, "load");
    CHECK(referents(heap, code).empty());
    check_field(heap, code, l.co_consts, ".co_consts", hidden);
    check_field(heap, code, l.co_names, ".co_names", hidden);
    check_field(heap, code, l.co_filename, ".co_filename", hidden);
    check_field(heap, code, l.co_name, ".co_name", hidden);
    check_field(heap, code, l.co_qualname, ".co_qualname", hidden);
    check_field(heap, code, l.co_linetable, ".co_linetable", hidden);
    check_field(heap, code, l.co_exceptiontable, ".co_exceptiontable", hidden);
    if (!l.co_cached.present()) {
        check_field(heap, code, l.co_varnames, ".co_varnames", hidden);
        check_field(heap, code, l.co_freevars, ".co_freevars", hidden);
        check_field(heap, code, l.co_cellvars, ".co_cellvars", hidden);
    }
    CHECK(referents(heap, code).empty());
}

TEST_CASE("code: one that was freed, and whose memory is part of another block now, is none",
          "[cpython][code]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address code = make_code(heap, "load");
    heap.set(code, layout->code.co_consts, heap.str("what took the place of its constants"));
    CHECK_FALSE(plausible(heap, code));
}

TEST_CASE("code: bytecode is part of the object since 3.11, two bytes a unit", "[cpython][code]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->code;
    const Address code = make_code(heap, "load", 30);
    if (l.co_code_adaptive.present())
        CHECK(size_of(heap, code) == (*l.co_code_adaptive + 60 + 7) / 8 * 8);
    else
        CHECK(size_of(heap, code) == *l.size);
    CHECK(plausible(heap, code));
    CHECK(text_of(heap, code) ==
          (l.co_qualname.present() ? "<code Loader.load, load.py:12>" : "<code load, load.py:12>"));
}

TEST_CASE("code: without a name or constants it is none", "[cpython][code][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address code = make_code(heap, "load", 4);
    heap.set(code, layout->code.co_name, Address(0x123456789000));
    CHECK_FALSE(plausible(heap, code));
    heap.set(code, layout->code.co_extra, code);
    heap.put(code + *layout->var_object.ob_size, std::int64_t{1} << 62);
    ask_everything(heap, code);
}

TEST_CASE("method: function and self", "[cpython][method]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address function = heap.object("function");
    heap.set(function, layout->function.func_qualname, heap.str("Loader.load"));
    const Address self = heap.object("object");
    const Address method = heap.object("method");
    heap.set(method, layout->method.im_func, function);
    heap.set(method, layout->method.im_self, self);
    CHECK(references(heap, method) ==
          std::vector<Seen>{{function, ".__func__", strong}, {self, ".__self__", strong}});
    CHECK(text_of(heap, method) == "<bound method Loader.load>");
}

TEST_CASE("builtin function: its class only where the definition says METH_METHOD", "[cpython][method]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->builtin_function;
    const bool has_class = layout->builtin_method.mm_class.present();  // since 3.9
    const Address function = heap.object(has_class ? "builtin_method" : "builtin_function_or_method");
    const Address definition = heap.allocate_static(*layout->method_def.size);
    heap.set(definition, layout->method_def.ml_name, heap.c_string("append"));
    heap.set(function, l.m_ml, definition);
    const Address type = heap.builtin("list");
    heap.set(function, layout->builtin_method.mm_class, type);
    check_field(heap, function, l.m_self, ".__self__");
    check_field(heap, function, l.m_module, ".__module__");
    CHECK(reference(heap, function, ".<class>").target.is_null());
    heap.set(definition, layout->method_def.ml_flags, std::int32_t{0x200});
    CHECK(reference(heap, function, ".<class>").target == (has_class ? type : Address()));
    CHECK(text_of(heap, function) == "<built-in function append>");
}

TEST_CASE("descriptors report their class, not their name", "[cpython][method]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->descriptor;
    const Address descriptor = heap.object("method_descriptor");
    const Address type = heap.builtin("list");
    const Address name = heap.str("append");
    heap.set(descriptor, l.d_type, type);
    heap.set(descriptor, l.d_name, name);
    CHECK(references(heap, descriptor) ==
          std::vector<Seen>{{type, ".__objclass__", strong}, {name, ".__name__", hidden}});
    CHECK(text_of(heap, descriptor) == "<method_descriptor list.append>");
    const Address wrapper = heap.object("method-wrapper");
    check_field(heap, wrapper, layout->wrapper.descr, ".<descriptor>");
    check_field(heap, wrapper, layout->wrapper.self, ".__self__");
}

TEST_CASE("small kinds: every field by its Python name", "[cpython][simple]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address cell = heap.object("cell");
    CHECK(references(heap, cell).empty());
    check_field(heap, cell, layout->cell.ob_ref, ".cell_contents");
    const Address property = heap.object("property");
    check_field(heap, property, layout->property.prop_get, ".fget");
    check_field(heap, property, layout->property.prop_set, ".fset");
    check_field(heap, property, layout->property.prop_del, ".fdel");
    check_field(heap, property, layout->property.prop_doc, ".__doc__");
    check_field(heap, property, layout->property.prop_name, ".__name__");
    const Address class_method = heap.object("classmethod");
    check_field(heap, class_method, layout->classmethod.callable, ".__func__");
    const Address static_method = heap.object("staticmethod");
    check_field(heap, static_method, layout->staticmethod.callable, ".__func__");
    const Address partial = heap.object("functools.partial");
    check_field(heap, partial, layout->partial.fn, ".func");
    check_field(heap, partial, layout->partial.args, ".args");
    check_field(heap, partial, layout->partial.kw, ".keywords");
    check_field(heap, partial, layout->partial.dict, ".__dict__");
    CHECK(references(heap, partial).size() == 4);
    const Address proxy = heap.object("mappingproxy");
    check_field(heap, proxy, layout->mappingproxy.mapping, ".<mapping>");
    const Address slice = heap.object("slice");
    check_field(heap, slice, layout->slice.start, ".start");
    check_field(heap, slice, layout->slice.stop, ".stop");
    check_field(heap, slice, layout->slice.step, ".step");
    CHECK(size_of(heap, slice) == 40);
}

TEST_CASE("range: takes no part in collection, so its bounds are hidden", "[cpython][simple]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address range = heap.object("range");
    check_field(heap, range, layout->range.start, ".start", hidden);
    check_field(heap, range, layout->range.stop, ".stop", hidden);
    check_field(heap, range, layout->range.step, ".step", hidden);
    check_field(heap, range, layout->range.range_length, ".<length>", hidden);
    CHECK(size_of(heap, range) == 48);
}

TEST_CASE("capsule: its value is the name that C gave it", "[cpython][simple]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address capsule = heap.object("PyCapsule");
    heap.set(capsule, layout->capsule.name, heap.c_string("numpy.core._C_API"));
    CHECK(text_of(heap, capsule) == "<capsule \"numpy.core._C_API\">");
    heap.set(capsule, layout->capsule.name, Address(0x123456789000));
    ask_everything(heap, capsule);
}
