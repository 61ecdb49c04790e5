// Types and modules, exceptions and tracebacks, weak references: what each holds, and which of it nothing
// reports.

#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr auto strong = ReferenceKind::strong;
constexpr auto hidden = ReferenceKind::hidden;

}  // namespace

TEST_CASE("type: a class reports its namespace, mro, bases and base; its names are hidden",
          "[cpython][type]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Point", {.attributes = {"x"}});
    const Address bases = heap.tuple({heap.builtin("object")});
    heap.set(type, layout->type.tp_bases, bases);
    const auto field = [&](LayoutOffset offset) { return heap.heap().pointer(type + *offset); };
    CHECK(reference(heap, type, ".__dict__") == Seen{field(layout->type.tp_dict), ".__dict__", strong});
    CHECK(reference(heap, type, ".__mro__") == Seen{field(layout->type.tp_mro), ".__mro__", strong});
    CHECK(reference(heap, type, ".__bases__") == Seen{bases, ".__bases__", strong});
    CHECK(reference(heap, type, ".__base__") == Seen{heap.builtin("object"), ".__base__", strong});
    CHECK(reference(heap, type, ".__name__") == Seen{field(layout->heap_type.ht_name), ".__name__", hidden});
    CHECK(reference(heap, type, ".__qualname__") ==
          Seen{field(layout->heap_type.ht_qualname), ".__qualname__", hidden});
    CHECK(reference(heap, type, "key x").kind == hidden);
    CHECK(text_of(heap, type) == "<class 'app.Point'>");
}

TEST_CASE("type: of a static type nothing is reported", "[cpython][type]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.builtin("list");
    CHECK(referents(heap, type).empty());
    CHECK(reference(heap, type, ".__mro__").kind == hidden);
    CHECK(text_of(heap, type) == "<class 'list'>");
}

TEST_CASE("type: a class counts its header and the keys that its instances share, a static type its struct",
          "[cpython][type]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    CHECK(size_of(heap, heap.builtin("list")) == *layout->type.size);
    CHECK(size_of(heap, heap.python_class("Plain", {.slots = {"a"}})) == *layout->heap_type.size);
    const Address type = heap.python_class("Point", {.attributes = {"x", "y"}});
    // Room for five entries: with a hash in each up to 3.10, without since then.
    const std::uint64_t keys = layout->dict_keys.dk_size.present() ? 40 + 8 + 5 * 24 : 32 + 8 + 5 * 16;
    CHECK(size_of(heap, type) == *layout->heap_type.size + keys);
    CHECK(buffers(heap, type) == std::vector<SeenBuffer>{{heap.shared_keys_of(type), keys, false}});
}

TEST_CASE("type: fields that point nowhere are no crash", "[cpython][type][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address type = heap.python_class("Point", {.attributes = {"x"}});
    for (const LayoutOffset field :
         {layout->heap_type.ht_cached_keys, layout->heap_type.ht_name, layout->heap_type.ht_qualname,
          layout->type.tp_dict, layout->type.tp_subclasses})
        heap.set(type, field, Address(0x123456789001));
    heap.put(type + *layout->var_object.ob_size, std::int64_t{-1});
    ask_everything(heap, type);
    CHECK(references(heap, type).size() < 10);
}

TEST_CASE("module: its namespace, its name, and the objects in its state", "[cpython][module]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->module;
    const Address module = heap.object("module");
    const Address dict = heap.dict({{heap.str("__name__"), heap.str("app.load")}});
    heap.set(module, l.md_dict, dict);
    CHECK(referents(heap, module) == std::vector{dict});
    CHECK(text_of(heap, module) == "<module 'app.load'>");
    heap.set(module, l.md_name, heap.str("app"));
    CHECK(text_of(heap, module) == "<module 'app'>");
    const Address definition = heap.allocate_static(*layout->module_def.size);
    const Address state = heap.allocate(24);
    const Address error = heap.list({});
    heap.put(state, error);
    heap.put(state + 8, std::uint64_t{12345});  // a number among the pointers
    heap.set(definition, layout->module_def.m_size, std::int64_t{24});
    heap.set(module, l.md_state_size, std::int64_t{24});
    heap.set(module, l.md_def, definition);
    heap.set(module, l.md_state, state);
    CHECK(reference(heap, module, ".<module state>") == Seen{error, ".<module state>", ReferenceKind::guess});
    heap.set(definition, layout->module_def.m_size, std::int64_t{1} << 60);
    heap.set(module, l.md_state_size, std::int64_t{1} << 60);
    CHECK(reference(heap, module, ".<module state>").target.is_null());
}

TEST_CASE("exception: arguments, traceback, context and cause", "[cpython][exception]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->exception;
    const Address type = heap.c_type(
        "ValueError", {.base = heap.builtin("BaseException"), .basicsize = *l.size, .flags = have_gc_flag});
    const Address exception = heap.object(type);
    CHECK_FALSE(plausible(heap, exception));
    std::vector<std::pair<LayoutOffset, std::string>> fields = {{l.dict, ".__dict__"},
                                                                {l.traceback, ".__traceback__"},
                                                                {l.context, ".__context__"},
                                                                {l.cause, ".__cause__"}};
    if (l.notes.present()) fields.emplace_back(l.notes, ".__notes__");
    for (const auto& [field, name] : fields) {
        const Address target = heap.object("object");
        heap.set(exception, field, target);
        CHECK(reference(heap, exception, name) == Seen{target, name, strong});
    }
    const Address arguments = heap.tuple({heap.str("no such thing")});
    heap.set(exception, l.args, arguments);
    CHECK(reference(heap, exception, ".args").target == arguments);
    CHECK(references(heap, exception).size() == fields.size() + 1);
    CHECK(plausible(heap, exception));
    CHECK(size_of(heap, exception) == *l.size);
}

TEST_CASE("traceback: its frame, the next one, and the line", "[cpython][exception]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address traceback = heap.object("traceback");
    const Address next = heap.object("traceback");
    const Address frame = heap.object("frame");
    heap.set(traceback, layout->traceback.tb_next, next);
    heap.set(traceback, layout->traceback.tb_frame, frame);
    heap.set(traceback, layout->traceback.tb_lineno, std::int32_t{42});
    CHECK(references(heap, traceback) ==
          std::vector<Seen>{{next, ".tb_next", strong}, {frame, ".tb_frame", strong}});
    CHECK(text_of(heap, traceback) == "line 42");
}

TEST_CASE("weakref: the referent is weak, the callback is not", "[cpython][weakref]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address weakref = heap.object("weakref");
    const Address referent = heap.list({});
    const Address callback = heap.object("function");
    heap.set(weakref, layout->weakref.wr_object, referent);
    heap.set(weakref, layout->weakref.wr_callback, callback);
    CHECK(references(heap, weakref) ==
          std::vector<Seen>{{referent, "()", ReferenceKind::weak}, {callback, ".__callback__", strong}});
    CHECK(text_of(heap, weakref) == "to list");
}

TEST_CASE("weakref: a cleared one refers to nothing", "[cpython][weakref]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address weakref = heap.object("weakref");
    heap.set(weakref, layout->weakref.wr_object, heap.none());
    CHECK(references(heap, weakref).empty());
    CHECK(text_of(heap, weakref) == "dead");
    heap.set(weakref, layout->weakref.wr_object, Address(0x123456789000));
    CHECK(references(heap, weakref).empty());
}
