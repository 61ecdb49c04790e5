// Frames and generators. Since 3.11 what runs is an interpreter frame, which is in a frame object only after
// its call has returned, and in a generator as long as that exists. Up to 3.10 a frame is an object that
// holds its own locals.

#include "parsers/cpython/threads.h"
#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

constexpr auto strong = ReferenceKind::strong;

/// Code with the locals `names` and a value stack of two.
Address make_code(PythonHeapBuilder& heap, const std::vector<std::string>& names) {
    const auto& l = heap.layout().code;
    const Address code = heap.object("code");
    std::vector<Address> strs;
    for (const std::string& name : names) strs.push_back(heap.str(name));
    const Address tuple = heap.tuple(strs);
    const auto count = static_cast<std::int32_t>(names.size());
    heap.set(code, l.co_name, heap.str("work"));
    heap.set(code, l.co_qualname, heap.str("work"));
    heap.set(code, l.co_nlocals, count);
    heap.set(code, l.co_nlocalsplus, count);
    heap.set(code, l.co_stacksize, std::int32_t{2});
    heap.set(code, l.co_localsplusnames, tuple);
    heap.set(code, l.co_varnames, tuple);
    heap.set(code, l.co_freevars, heap.tuple({}));
    heap.set(code, l.co_cellvars, heap.tuple({}));
    const std::int32_t words =
        count + 2 + static_cast<std::int32_t>(heap.layout().interpreter_frame.localsplus.or_else(0) / 8);
    heap.set(code, l.co_framesize, words);
    return code;
}

/// Fills an interpreter frame. `stack` is the number of values on its value stack, or -1 while it runs.
void fill_frame(PythonHeapBuilder& heap, Address frame, Address code, const std::vector<Address>& slots,
                std::int32_t stacktop) {
    const auto& l = heap.layout().interpreter_frame;
    heap.set(frame, l.f_executable, code);
    heap.set(frame, l.stacktop, stacktop);
    if (l.stackpointer.present() && stacktop >= 0)
        heap.set(frame, l.stackpointer, frame + *l.localsplus + 8 * static_cast<std::uint64_t>(stacktop));
    for (std::size_t i = 0; i < slots.size(); ++i) heap.put(frame + *l.localsplus + 8 * i, slots[i]);
}

}  // namespace

TEST_CASE("frame: one that outlived its call holds locals by name, and what is on its stack",
          "[cpython][frame]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    if (!layout->frame.f_frame.present()) return;
    const Address code = make_code(heap, {"x", "y"});
    const Address x = heap.integer(1);
    const Address y = heap.integer(2);
    const Address on_stack = heap.list({});
    const Address function = heap.object("function");
    const Address frame = heap.object("frame", 4);
    const Address data = frame + *layout->frame.f_frame_data;
    heap.set(frame, layout->frame.f_frame, data);
    fill_frame(heap, data, code, {x, y, on_stack}, 3);
    heap.set(data, layout->interpreter_frame.f_funcobj, function);
    heap.set(data, layout->interpreter_frame.owner, std::uint8_t{2});
    CHECK(references(heap, frame) == std::vector<Seen>{{function, ".<function>", strong},
                                                       {code, ".f_code", strong},
                                                       {x, ".f_locals['x']", strong},
                                                       {y, ".f_locals['y']", strong},
                                                       {on_stack, ".<value stack>", strong}});
    CHECK(text_of(heap, frame) == "<frame of work()>");
    // frame_sizeof: the header, the interpreter frame's header, locals and stack.
    CHECK(size_of(heap, frame) ==
          *layout->frame.f_frame_data + *layout->interpreter_frame.localsplus + 8 * 4);
    heap.set(data, layout->interpreter_frame.stacktop, std::int32_t{1 << 30});
    heap.set(data, layout->interpreter_frame.stackpointer, data + (std::uint64_t{1} << 40));
    CHECK(all_references(heap, frame).count <= 2 + 4);
}

TEST_CASE("frame: since 3.14 its words have tags: counted, not counted, a number", "[cpython][frame]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    if (!layout->interpreter_frame.stackpointer.present()) return;
    const Address code = make_code(heap, {"x", "y", "z"});
    const Address x = heap.list({});
    const Address frame = heap.object("frame", 5);
    const Address data = frame + *layout->frame.f_frame_data;
    heap.set(frame, layout->frame.f_frame, data);
    const Address number(41 << 2 | 3), none(1);
    fill_frame(heap, data, code + 1, {x, x + 1, none, number}, 4);
    heap.set(data, layout->interpreter_frame.owner, std::uint8_t{2});
    CHECK(references(heap, frame) == std::vector<Seen>{{code, ".f_code", ReferenceKind::reported},
                                                       {x, ".f_locals['x']", strong},
                                                       {x, ".f_locals['y']", ReferenceKind::reported}});
}

TEST_CASE("frame: one that runs leaves its locals to the thread's stack", "[cpython][frame]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    if (!layout->frame.f_frame.present()) return;
    const Address code = make_code(heap, {"x"});
    const Address frame = heap.object("frame", 3);
    const Address on_thread = heap.allocate(256);
    fill_frame(heap, on_thread, code, {heap.integer(1)}, -1);
    heap.set(frame, layout->frame.f_frame, on_thread);
    const Address back = heap.object("frame", 3);
    heap.set(frame, layout->frame.f_back, back);
    CHECK(references(heap, frame) == std::vector<Seen>{{back, ".f_back", strong}});
}

TEST_CASE("frame: up to 3.10 it holds code, globals, locals and stack itself", "[cpython][frame]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->frame;
    if (l.f_frame.present()) return;
    const Address code = make_code(heap, {"x", "y"});
    const Address x = heap.integer(1);
    const Address globals = heap.dict({});
    const Address on_stack = heap.list({});
    const Address frame = heap.object("frame", 3);
    const Address slots = frame + *l.f_localsplus;
    heap.set(frame, l.f_code, code);
    heap.set(frame, l.f_globals, globals);
    heap.put(slots, x);
    heap.put(slots + 16, on_stack);
    heap.set(frame, l.f_valuestack, slots + 16);
    heap.set(frame, l.f_stacktop, slots + 24);
    heap.set(frame, l.f_stackdepth, std::int32_t{1});
    // frame_traverse (frameobject.c, 3.9 and 3.10)
    const auto held = referents(heap, frame);
    for (const Address target : {code, globals, x, on_stack})
        CHECK(std::count(held.begin(), held.end(), target) == 1);
    CHECK(reference(heap, frame, ".f_locals['x']").target == x);
}

TEST_CASE("frame: up to 3.10 its size has a place for each local and for the deepest stack",
          "[cpython][frame]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    if (layout->frame.f_frame.present()) return;
    const Address frame = heap.object("frame", 3);
    heap.set(frame, layout->frame.f_code, make_code(heap, {"x", "y"}));
    // sizeof(PyFrameObject) includes one slot.
    CHECK(size_of(heap, frame) == *layout->frame.size + 8 * (2 + 2) - 8);
}

TEST_CASE("generator: suspended, it holds the locals of its frame", "[cpython][generator]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->generator;
    const Address code = make_code(heap, {"x"});
    const Address x = heap.integer(1);
    const Address name = heap.str("work");
    const Address generator = heap.object("generator", l.gi_iframe.present() ? 3 : 0);
    heap.set(generator, l.gi_name, name);
    heap.set(generator, l.gi_qualname, name);
    heap.set(generator, l.gi_code, code);  // up to 3.11
    CHECK(reference(heap, generator, ".__name__").target == name);
    CHECK(text_of(heap, generator) == "<generator work>");
    if (!l.gi_iframe.present()) {
        const Address frame = heap.object("frame", 3);
        heap.set(generator, l.gi_frame, frame);
        CHECK(reference(heap, generator, ".gi_frame").target == frame);
        CHECK(reference(heap, generator, ".gi_code").target == code);
        return;
    }
    fill_frame(heap, generator + *l.gi_iframe, code, {x}, 1);
    // Suspended: before 3.15 below 0.
    const bool counts_up = since(15).contain(layout->version);
    heap.set(generator, l.gi_frame_state, static_cast<std::int8_t>(counts_up ? 1 : -1));
    CHECK(reference(heap, generator, ".gi_frame.f_locals['x']") ==
          Seen{x, ".gi_frame.f_locals['x']", strong});
    CHECK(size_of(heap, generator) == *l.gi_iframe + *layout->interpreter_frame.localsplus + 8 * 3);
}

TEST_CASE("coroutine: it names its frame by attributes of its own", "[cpython][generator]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    const auto [type, prefix] = GENERATE(table<std::string, std::string>(
        {{"generator", ".gi_"}, {"coroutine", ".cr_"}, {"async_generator", ".ag_"}}));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->generator;
    const Address code = make_code(heap, {"x"});
    const Address x = heap.integer(1);
    const Address object = heap.object(type, l.gi_iframe.present() ? 3 : 0);
    const Address frame = heap.object("frame", 3);
    heap.set(object, l.gi_code, code);  // up to 3.11
    if (l.gi_iframe.present()) {
        fill_frame(heap, object + *l.gi_iframe, code, {x}, 1);
        heap.set(object, l.gi_frame_state, std::int8_t{-1});
        heap.set(object + *l.gi_iframe, layout->interpreter_frame.frame_obj, frame);
        CHECK(reference(heap, object, prefix + "frame.f_locals['x']").target == x);
    } else {
        heap.set(object, l.gi_frame, frame);
    }
    CHECK(reference(heap, object, prefix + "frame").target == frame);
    CHECK(reference(heap, object, prefix + "code").target == code);
}

TEST_CASE("generator: f_locals shows what a cell holds, and the cell has no name", "[cpython][generator]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->generator;
    if (!l.gi_iframe.present()) return;
    const Address code = make_code(heap, {"plain", "celled", "free", "waits", "inlined"});
    heap.set(code, layout->code.co_localspluskinds, heap.bytes("\x20\x60\x80\x60\x30"));
    const Address cell = heap.object("cell"), other = heap.object("cell"), argument = heap.integer(1);
    const Address generator = heap.object("generator", 7);
    fill_frame(heap, generator + *l.gi_iframe, code, {cell, other, cell, argument, argument}, 5);
    heap.set(generator, l.gi_frame_state, std::int8_t{-1});
    // a local whose value is a cell
    CHECK(reference(heap, generator, ".gi_frame.f_locals['plain']").target == cell);
    CHECK(reference(heap, generator, ".<cell celled>").target == other);
    CHECK(reference(heap, generator, ".<cell free>").target == cell);
    // not in its cell yet
    CHECK(reference(heap, generator, ".gi_frame.f_locals['waits']").target == argument);
    CHECK(reference(heap, generator, ".<local inlined>").target == argument);
}

TEST_CASE("generator: once it has returned, what its frame held is stale", "[cpython][generator]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->generator;
    if (!l.gi_iframe.present()) return;
    const Address generator = heap.object("generator", 3);
    const Address x = heap.integer(1);
    fill_frame(heap, generator + *l.gi_iframe, make_code(heap, {"x"}), {x}, 1);
    const bool counts_up = since(15).contain(layout->version);
    heap.set(generator, l.gi_frame_state, static_cast<std::int8_t>(counts_up ? 5 : 4));  // FRAME_CLEARED
    const auto held = referents(heap, generator);
    CHECK(std::count(held.begin(), held.end(), x) == 0);
}

TEST_CASE("generator: absurd counts in its code are not believed", "[cpython][generator][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const auto& l = layout->generator;
    if (!l.gi_iframe.present()) return;
    const Address code = make_code(heap, {"x"});
    const Address generator = heap.object("generator", 3);
    fill_frame(heap, generator + *l.gi_iframe, code, {heap.none()}, 1 << 30);
    heap.set(generator, l.gi_frame_state, std::int8_t{-1});
    for (const std::int32_t count : {-1, 1 << 30}) {
        heap.set(code, layout->code.co_nlocalsplus, count);
        heap.set(code, layout->code.co_stacksize, count);
        heap.set(code, layout->code.co_framesize, count);
        CHECK(all_references(heap, generator).count < 10);
        ask_everything(heap, generator);
    }
    heap.put(generator + *l.gi_iframe + *layout->interpreter_frame.f_executable, Address(0x123456789000));
    ask_everything(heap, generator);
}

namespace {

/// A generator of any version that is suspended with one object on its stack, and what says how.
struct SuspendedGenerator {
    PythonHeapBuilder heap;
    Address awaited, generator, frame, code, bytecode;

    explicit SuspendedGenerator(const Layout& layout) : heap(layout) {
        code = make_code(heap, {"x"});
        awaited = heap.list({});
        bytecode = heap.bytes(std::string(8, '\1'));
        heap.set(code, layout.code.co_code, bytecode);
        generator = heap.object("generator", layout.generator.gi_iframe.present() ? 3 : 0);
        if (layout.generator.gi_iframe.present()) {
            frame = generator + *layout.generator.gi_iframe;
            fill_frame(heap, frame, code, {heap.integer(1), awaited}, 2);
            heap.set(frame, layout.interpreter_frame.owner, std::uint8_t{1});
            // Two instructions: a yield, and RESUME after it.
            heap.set(frame, layout.interpreter_frame.instr_ptr, code + *layout.code.co_code_adaptive + 2);
            state(-1);
            return;
        }
        const auto& l = layout.frame;
        frame = heap.object("frame", 3);
        heap.set(generator, layout.generator.gi_frame, frame);
        heap.set(frame, l.f_code, code);
        heap.put(frame + *l.f_localsplus + 8, awaited);
        heap.set(frame, l.f_valuestack, frame + *l.f_localsplus + 8);
        heap.set(frame, l.f_stacktop, frame + *l.f_localsplus + 16);
        heap.set(frame, l.f_stackdepth, std::int32_t{1});
        heap.set(frame, l.f_state, std::int8_t{-1});
        heap.set(frame, l.f_lasti, std::int32_t{2});
    }

    /// As versions before 3.15 count.
    void state(std::int8_t number) {
        const Layout& l = heap.layout();
        if (since(15).contain(l.version)) number = static_cast<std::int8_t>(number + (number < 0 ? 3 : 4));
        heap.set(generator, l.generator.gi_frame_state, number);
    }

    void await() {
        const Layout& l = heap.layout();
        if (await_mark(l) == AwaitMark::next_opcode)
            for (std::uint64_t i = 0; i < 8; ++i)
                heap.put(bytecode + *l.bytes.ob_sval + i, yield_from_opcode);
        if (await_mark(l) == AwaitMark::resume_argument)
            heap.put(code + *l.code.co_code_adaptive + 5, std::uint8_t{3});
    }

    std::optional<GeneratorCall> call() { return GeneratorCalls(heap.heap()).of(generator); }
};

}  // namespace

TEST_CASE("generator: what it waits for in await is on top of its stack", "[cpython][generator][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    SuspendedGenerator of(*layout);
    of.await();
    const auto call = of.call();
    REQUIRE(call);
    CHECK(call->state == CallState::suspended);
    CHECK(call->frame.name == "work");
    CHECK(call->awaited == of.awaited);
}

TEST_CASE("generator: at a plain yield it waits for nothing that is on its stack",
          "[cpython][generator][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    SuspendedGenerator of(*layout);
    if (await_mark(*layout) == AwaitMark::state) of.state(-2);
    const auto call = of.call();
    REQUIRE(call);
    CHECK(call->state == CallState::suspended);
    CHECK(call->awaited.is_null());
}

TEST_CASE("generator: one that has not begun, one that runs, one that has ended",
          "[cpython][generator][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    SuspendedGenerator of(*layout);
    of.await();
    const auto& f = layout->frame;
    if (layout->generator.gi_iframe.present())
        of.state(since(13).contain(layout->version) ? -3 : -2);
    else
        of.heap.set(of.frame, f.f_lasti, std::int32_t{-1});
    REQUIRE(of.call());
    CHECK(of.call()->state == CallState::created);
    CHECK(of.call()->awaited.is_null());

    of.heap.set(of.frame, f.f_lasti, std::int32_t{2});
    of.heap.set(of.frame, f.f_state, std::int8_t{0});
    of.heap.set(of.frame, f.f_executing, std::uint8_t{1});
    of.state(0);
    REQUIRE(of.call());
    CHECK(of.call()->state == CallState::running);

    of.heap.set(of.generator, layout->generator.gi_frame, Address());
    of.state(4);
    CHECK_FALSE(of.call());
}
