// Finding types by sweeping memory: what reads as a type but is none, what their names are, whose __sizeof__
// is used, and the C types that were never made ready but have instances.

#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

TEST_CASE("types: static types, classes and `type` itself are found, each with base and metatype",
          "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Point", {.base = heap.builtin("list")});
    for (const Address found : {type, heap.builtin("list"), heap.builtin("object"), heap.builtin("type")}) {
        REQUIRE(heap.type_id(found) != no_type);
        CHECK(heap.type(found).metatype == heap.type_id(heap.builtin("type")));
    }
    CHECK(heap.type(type).base == heap.type_id(heap.builtin("list")));
    CHECK(heap.type(heap.builtin("object")).base == no_type);
    CHECK(heap.heap().types().derives(heap.type_id(type), heap.type_id(heap.builtin("object"))));
    CHECK_FALSE(heap.heap().types().derives(heap.type_id(heap.builtin("list")), heap.type_id(type)));
    for (TypeId id(1); id < heap.heap().types().size(); ++id)
        CHECK(heap.heap().types()[TypeId(id - 1)].address < heap.heap().types()[id].address);
}

TEST_CASE("types: what refers to `type` without an mro of its own is no type", "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address look_alike = heap.c_type("look.alike", {});
    const auto& l = layout->type;
    SECTION("no mro") { heap.set(look_alike, l.tp_mro, Address()); }
    SECTION("an mro without it") { heap.set(look_alike, l.tp_mro, heap.tuple({heap.builtin("object")})); }
    SECTION("an mro that is a list") { heap.set(look_alike, l.tp_mro, heap.list({look_alike})); }
    SECTION("an mro that is not mapped") { heap.set(look_alike, l.tp_mro, Address(0x123456789000)); }
    SECTION("not ready, though its mro is set") { heap.set(look_alike, l.tp_flags, std::uint64_t{0}); }
    SECTION("a reference count of zero") { heap.put(look_alike, std::int64_t{0}); }
    SECTION("instances smaller than a header") { heap.set(look_alike, l.tp_basicsize, std::int64_t{8}); }
    SECTION("instances larger than any") { heap.set(look_alike, l.tp_basicsize, std::int64_t{1} << 40); }
    SECTION("items of a negative size") { heap.set(look_alike, l.tp_itemsize, std::int64_t{-8}); }
    CHECK(heap.type_id(look_alike) == no_type);
    CHECK(heap.type_id(heap.builtin("list")) != no_type);
}

TEST_CASE("types: instances of metatypes are types, also of those of metatypes", "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address meta = heap.python_class("Meta", {.base = heap.builtin("type"), .slots = {"extra"}});
    const Address meta_meta = heap.c_type(
        "MetaMeta",
        {.base = heap.builtin("type"), .basicsize = *layout->heap_type.size, .flags = type_subclass_flag});
    const Address meta_by_it = heap.c_type("MetaByIt", {.base = heap.builtin("type"),
                                                        .metatype = meta_meta,
                                                        .basicsize = *layout->heap_type.size,
                                                        .flags = type_subclass_flag});
    const Address type = heap.c_type("Made", {.metatype = meta});
    const Address other = heap.c_type("Other", {.metatype = meta_by_it});
    REQUIRE(heap.type_id(type) != no_type);
    REQUIRE(heap.type_id(other) != no_type);
    CHECK(heap.type(type).metatype == heap.type_id(meta));
    CHECK(heap.type(other).metatype == heap.type_id(meta_by_it));
}

TEST_CASE("types: classes that are their own metatype, or each other's", "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address meta = heap.python_class("Sentinel", {.base = heap.builtin("type")});
    const Address own = heap.python_class("OWN", {.base = meta});
    const Address one = heap.python_class("ONE", {.base = meta});
    const Address other = heap.python_class("OTHER", {.base = meta});
    const Address torn = heap.python_class("TORN");
    heap.set(own, layout->object.ob_type, own);
    heap.set(one, layout->object.ob_type, other);
    heap.set(other, layout->object.ob_type, one);
    heap.set(torn, layout->object.ob_type, torn);  // no base leads to `type`
    for (const auto& [type, metatype] : {std::pair(own, own), {one, other}, {other, one}}) {
        REQUIRE(heap.type_id(type) != no_type);
        CHECK(heap.type(type).metatype == heap.type_id(metatype));
    }
    CHECK(heap.type_id(torn) == no_type);
}

TEST_CASE("types: names as Python prints them", "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Loader", {.module = "app.load"});
    const Address of_builtins = heap.python_class("Site", {.module = "builtins"});
    const Address c_type = heap.c_type("collections.Counter", {});
    const Address builtin = heap.c_type("builtins.thing", {});
    const Address nameless = heap.c_type("?", {});
    heap.set(nameless, layout->type.tp_name, Address(0x123456789000));
    CHECK(heap.type(type).name == "app.load.Loader");
    CHECK(heap.type(of_builtins).name == "Site");
    CHECK(heap.type(c_type).name == "collections.Counter");
    CHECK(heap.type(builtin).name == "thing");
    CHECK_FALSE(heap.type(nameless).named);
    CHECK(heap.heap().types().named("app.load.Loader") == std::vector{heap.type_id(type)});
    // A nested class: its qualified name is what counts.
    heap.set(type, layout->heap_type.ht_qualname, heap.str("Outer.Loader"));
    CHECK(heap.type(type).name == "app.load.Outer.Loader");
}

TEST_CASE("types: a __module__ that is no str names nothing", "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Odd");
    heap.set(type, layout->type.tp_dict, heap.dict({{heap.str("__module__"), heap.integer(3)}}));
    CHECK(heap.type(type).name == "Odd");
}

TEST_CASE("types: a class statement makes a Python class, a specification in C does not",
          "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address by_class = heap.python_class("A");
    const Address by_spec = heap.python_class("B");
    heap.set(by_spec, layout->type.tp_name, heap.c_string("app.B"));
    CHECK(heap.type(by_class).python_class);
    CHECK(heap.type(by_class).heap_type);
    CHECK_FALSE(heap.type(by_spec).python_class);
    CHECK(heap.type(by_spec).heap_type);
    CHECK_FALSE(heap.type(heap.builtin("list")).heap_type);
    CHECK(heap.type(by_spec).name == "app.B");
}

TEST_CASE("types: bytes before an object are the collector's header and the words of a managed dict",
          "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(heap.type(heap.builtin("int")).presize == 0);
    const std::uint64_t header = heap.minor() >= 8 ? 16 : 32;
    CHECK(heap.type(heap.builtin("list")).presize == header);
    const Address type = heap.python_class("Point");
    CHECK(heap.type(type).presize == (heap.minor() >= 11 ? 32 : header));
    CHECK(heap.type(heap.python_class("Slotted", {.slots = {"a"}})).presize == header);
    const Address weakly = heap.c_type("weakly", {.flags = managed_weakref_flag});
    if (heap.minor() != 11)
        CHECK(heap.type(weakly).presize == (heap.minor() >= 12 ? 16 : 0));  // 3.11 has no such flag
}

TEST_CASE("types: the kind is that of the nearest C base that has one, the rest is guessed",
          "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const TypeInfo stack = heap.type(heap.python_class("Stack", {.base = heap.builtin("list")}));
    REQUIRE(stack.kind);
    CHECK(std::string(stack.kind->name) == "list");
    CHECK(stack.known_basicsize == 40);
    CHECK_FALSE(stack.guessed);
    const TypeInfo plain = heap.type(heap.python_class("Plain"));
    CHECK_FALSE(plain.kind);
    CHECK_FALSE(plain.guessed);
    const TypeInfo unknown = heap.type(heap.c_type("ext.Handle", {.basicsize = 64}));
    CHECK_FALSE(unknown.kind);
    CHECK(unknown.guessed);
    CHECK(unknown.guess_end == 64);
    const TypeInfo extended =
        heap.type(heap.c_type("ext.List", {.base = heap.builtin("list"), .basicsize = 56}));
    CHECK(extended.known_basicsize == 40);
    CHECK(extended.guessed);
    // A class called list is not a list.
    CHECK_FALSE(heap.type(heap.python_class("list")).kind);
}

TEST_CASE("types: the first __sizeof__ of the mro answers, as far as it is known", "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    auto source = [&](Address type) { return heap.type(type).size_source; };
    CHECK(source(heap.builtin("object")) == SizeSource::known);
    CHECK_FALSE(heap.type(heap.builtin("tuple")).size_kind);  // object's own
    const Address list = heap.builtin("list");
    REQUIRE(heap.type(list).size_kind);
    CHECK(source(list) == SizeSource::known);
    const Address stack = heap.python_class("Stack", {.base = list});
    CHECK(heap.type(stack).size_kind == heap.type(list).size_kind);
    const Address overriding =
        heap.python_class("Honest", {.base = list, .members = {{"__sizeof__", heap.object("function")}}});
    CHECK(source(overriding) == SizeSource::python);
    CHECK(heap.type(overriding).size_kind == heap.type(list).size_kind);
    // __sizeof__ = object.__sizeof__ in the body of a class.
    const Address method = heap.object("method_descriptor");
    const Address plain = heap.python_class("Plain", {.base = list, .members = {{"__sizeof__", method}}});
    heap.set(method, layout->descriptor.d_type, heap.builtin("object"));
    CHECK(source(plain) == SizeSource::known);
    CHECK_FALSE(heap.type(plain).size_kind);
    const Address unknown = heap.c_type("ext.Table", {.basicsize = 64, .own_sizeof = true});
    CHECK(source(unknown) == SizeSource::unknown);
    CHECK(source(heap.c_type("ext.Simple", {.basicsize = 64})) == SizeSource::known);
    CHECK(source(heap.python_class("OnTable", {.base = unknown})) == SizeSource::unknown);
}

namespace {

/// A static type as declared in C, never seen by PyType_Ready.
Address unready_type(PythonHeapBuilder& heap, const std::string& name) {
    const Address type = heap.allocate_static(*heap.layout().type.size);
    heap.put(type, std::uint64_t{1});
    heap.set(type, heap.layout().type.tp_name, heap.c_string(name));
    heap.set(type, heap.layout().type.tp_basicsize, std::uint64_t{32});
    heap.set(type, heap.layout().type.tp_dealloc, heap.code_address());
    return type;
}

}  // namespace

TEST_CASE("types: static types that were never made ready are found by what a type must have",
          "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address unready = unready_type(heap, "functools._lru_list_elem");
    CHECK(heap.type_id(unready) != no_type);
    CHECK(heap.type(unready).name == "functools._lru_list_elem");
    const auto& l = layout->type;
    SECTION("its metatype may be written already") {
        heap.put(unready + *layout->object.ob_type, heap.builtin("type"));
        CHECK(heap.type_id(unready) != no_type);
        return;
    }
    SECTION("not without a destructor in code") { heap.set(unready, l.tp_dealloc, unready); }
    SECTION("not with a name that is none") { heap.set(unready, l.tp_name, heap.c_string("a\x01b")); }
    SECTION("not with an empty name") { heap.set(unready, l.tp_name, heap.c_string("")); }
    SECTION("not with instances of four kilobytes and more") {
        heap.set(unready, l.tp_basicsize, std::uint64_t{5000});
    }
    SECTION("not as a heap type") { heap.set(unready, l.tp_flags, heap_type_flag); }
    heap.allocate(16);  // the types are looked for again
    CHECK(heap.type_id(unready) == no_type);
}

TEST_CASE("types: bases that form a ring are an end, not a loop", "[cpython][types][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address a = heap.python_class("A");
    const Address b = heap.python_class("B", {.base = a});
    const Address c = heap.python_class("C", {.base = b});
    heap.set(a, layout->type.tp_base, b);
    heap.set(heap.builtin("list"), layout->type.tp_base, heap.builtin("list"));
    const Address object = heap.object(c);
    REQUIRE(heap.type_id(c) != no_type);
    for (const TypeInfo& type : heap.heap().types()) {
        TypeId at = type.base;
        std::size_t steps = 0;
        for (; at != no_type && steps <= heap.heap().types().size(); ++steps)
            at = heap.heap().types()[at].base;
        CHECK(at == no_type);
    }
    ask_everything(heap, object);
}

TEST_CASE("types: the state of a static builtin type is the interpreter's, where it says so",
          "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& state = layout->managed_static_type_state;
    if (!layout->interpreter_state.types_builtins.present() || !state.size.present()) return;
    const Address interpreter = heap.allocate(*layout->interpreter_state.size);
    const Address type = heap.builtin("list");
    const Address dict = heap.dict({});
    const Address entry = interpreter + *layout->interpreter_state.types_builtins + 4 * *state.size;
    PythonInterpreter python_interpreter;
    python_interpreter.address = interpreter;
    heap.runtime().interpreters.push_back(python_interpreter);
    heap.set(type, layout->type.tp_subclasses, std::uint64_t{5});  // its index plus one
    const Address own = heap.heap().pointer(type + *layout->type.tp_dict);
    CHECK(heap.heap().static_type_state(type).is_null());  // the entry does not point back
    CHECK(heap.heap().type_dict(type) == own);
    heap.set(entry, state.type, type);
    heap.set(entry, state.tp_dict, dict);
    CHECK(heap.heap().static_type_state(type) == entry);
    CHECK(heap.heap().type_dict(type) == dict);
    heap.set(type, layout->type.tp_subclasses, ~std::uint64_t{0});
    CHECK(heap.heap().static_type_state(type).is_null());
}

TEST_CASE("types: a static type that only a subinterpreter imported has its state there",
          "[cpython][types]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& state = layout->managed_static_type_state;
    const LayoutOffset& table = layout->interpreter_state.types_for_extensions;
    if (!table.present() || !state.size.present()) return;
    const Address type = heap.builtin("list");
    const Address dict = heap.dict({});
    for (int i = 0; i < 2; ++i) {
        PythonInterpreter interpreter;
        interpreter.address = heap.allocate(*layout->interpreter_state.size);
        heap.runtime().interpreters.push_back(interpreter);
    }
    const Address entry = heap.runtime().interpreters.back().address + *table + 4 * *state.size;
    heap.set(type, layout->type.tp_subclasses, std::uint64_t{5});  // its index plus one
    CHECK(heap.heap().static_type_state(type).is_null());
    heap.set(entry, state.type, type);
    heap.set(entry, state.tp_dict, dict);
    CHECK(heap.heap().static_type_state(type) == entry);
    CHECK(heap.heap().type_dict(type) == dict);
    for (const Seen& seen : references(heap, type))
        CHECK(seen.target != Address{5});  // the index is no pointer
}
