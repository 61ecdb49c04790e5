// Threads and the frames that they run: chains of frame objects up to 3.10, of interpreter frames since then;
// names as threading has them; who had the interpreter's lock.

#include "parsers/cpython/threads.h"

#include "tests/cpython/heap_questions.h"

using namespace heapsift;
using namespace heapsift::test;

namespace {

struct Code {
    std::string name = "work";
    std::vector<std::string> locals = {}, cells = {}, free = {};
    std::string lines = {};  // the line table
    std::int32_t first_line = 10;
    std::int32_t stack = 2;
};

Address make_code(PythonHeapBuilder& heap, const Code& of) {
    const auto& l = heap.layout().code;
    const Address code = heap.object("code", 64);
    const auto strs = [&](const std::vector<std::string>& texts) {
        std::vector<Address> result;
        for (const std::string& text : texts) result.push_back(heap.str(text));
        return result;
    };
    std::vector<std::string> all = of.locals;
    all.insert(all.end(), of.cells.begin(), of.cells.end());
    all.insert(all.end(), of.free.begin(), of.free.end());
    heap.set(code, l.co_name, heap.str(of.name));
    heap.set(code, l.co_qualname, heap.str(of.name));
    heap.set(code, l.co_filename, heap.str("/srv/app.py"));
    heap.set(code, l.co_firstlineno, of.first_line);
    heap.set(code, l.co_nlocals, static_cast<std::int32_t>(of.locals.size()));
    heap.set(code, l.co_nlocalsplus, static_cast<std::int32_t>(all.size()));
    heap.set(code, l.co_stacksize, of.stack);
    heap.set(code, l.co_localsplusnames, heap.tuple(strs(all)));
    heap.set(code, l.co_localspluskinds,
             heap.bytes(std::string(of.locals.size(), '\x20') + std::string(of.cells.size(), '\x40') +
                        std::string(of.free.size(), '\x80')));
    heap.set(code, l.co_varnames, heap.tuple(strs(of.locals)));
    heap.set(code, l.co_cellvars, heap.tuple(strs(of.cells)));
    heap.set(code, l.co_freevars, heap.tuple(strs(of.free)));
    heap.set(code, l.co_linetable, heap.bytes(of.lines));
    return code;
}

/// One table in each format: bytes 0 to 3 belong to line 10, 4 to 7 to line 12, 8 to 11 to line 11, 12 to 15
/// to none (up to 3.9: to 14).
std::string line_table(const PythonHeapBuilder& heap) {
    if (heap.minor() >= 11)
        return std::string("\x81\x00", 2)  // short: a column follows
               + "\xe1\x05\x09"            // one line, two further: columns follow
               + "\xe9\x03"                // no column, minus one
               + "\xf9";                   // no location
    if (heap.minor() == 10) return std::string("\x04\x00\x04\x02\x04\xff\x04\x80", 8);
    return std::string("\x04\x02\x04\xff\x04\x03", 6);
}

/// A frame of any version; `offset`: bytes from the start of the bytecode to the instruction.
struct FrameMaker {
    PythonHeapBuilder& heap;

    bool interpreter() const { return heap.layout().interpreter_frame.localsplus.present(); }
    Address slots(Address frame) const {
        return frame + (interpreter() ? *heap.layout().interpreter_frame.localsplus
                                      : *heap.layout().frame.f_localsplus);
    }
    Address make(Address code, std::int32_t offset, Address back = {}, std::uint8_t owner = 0) {
        const Layout& l = heap.layout();
        const Address frame = interpreter() ? heap.allocate(256) : heap.object("frame", 8);
        fill(frame, code, offset, owner);
        if (interpreter())
            heap.set(frame, l.interpreter_frame.previous, back);
        else
            heap.set(frame, l.frame.f_back, back);
        return frame;
    }
    void fill(Address frame, Address code, std::int32_t offset, std::uint8_t owner) {
        const Layout& l = heap.layout();
        if (interpreter()) {
            heap.set(frame, l.interpreter_frame.f_executable, code);
            heap.set(frame, l.interpreter_frame.instr_ptr,
                     code + *l.code.co_code_adaptive + static_cast<std::uint64_t>(std::int64_t{offset}));
            heap.set(frame, l.interpreter_frame.owner, owner);
            heap.set(frame, l.interpreter_frame.stacktop, std::int32_t{-1});
        } else {
            heap.set(frame, l.frame.f_code, code);
            heap.set(frame, l.frame.f_lasti, heap.minor() >= 10 ? offset / 2 : offset);
            heap.set(frame, l.frame.f_stackdepth, std::int32_t{-1});
            constexpr std::uint64_t locals = 3 * 8;  // of every code here: three, or fewer and empty places
            heap.set(frame, l.frame.f_valuestack, slots(frame) + locals);
        }
    }
};

constexpr std::uint64_t self = 0x7f0012345640;

/// An interpreter whose one thread is in `frame`.
Address make_thread(PythonHeapBuilder& heap, Address frame, std::uint64_t thread_id = self) {
    const Layout& l = heap.layout();
    const Address thread = heap.allocate(*l.thread_state.size);
    heap.set(thread, l.thread_state.thread_id, thread_id);
    heap.set(thread, l.thread_state.native_thread_id, std::uint64_t{77});
    if (l.thread_state.current_frame.present()) {
        heap.set(thread, l.thread_state.current_frame, frame);
    } else if (l.cframe.current_frame.present()) {
        const Address cframe = heap.allocate(64);
        heap.set(cframe, l.cframe.current_frame, frame);
        heap.set(thread, l.thread_state.cframe, cframe);
    } else {
        heap.set(thread, l.thread_state.frame, frame);
    }
    if (heap.runtime().interpreters.empty()) heap.runtime().interpreters.emplace_back();
    auto& threads = heap.runtime().interpreters.front().threads;
    threads.insert(threads.begin(), thread);  // the newest comes first
    return thread;
}

std::vector<PythonThread> threads_of(PythonHeapBuilder& heap,
                                     const std::vector<CoreThread>& core_threads = {}) {
    return python_threads(core_threads, 1, heap.heap());
}

std::vector<std::pair<std::string, std::int32_t>> calls(const PythonThread& thread) {
    std::vector<std::pair<std::string, std::int32_t>> result;
    for (const PythonFrame& frame : thread.frames) result.emplace_back(frame.name, frame.line);
    return result;
}

struct SeenSlot {
    FrameSlot::What what;
    Address value;
    std::string name;
    bool cell;
    bool operator==(const SeenSlot&) const = default;
};

std::vector<SeenSlot> slots_of(PythonHeapBuilder& heap, const PythonFrame& frame) {
    std::vector<SeenSlot> seen;
    const PythonHeap& read = heap.heap();
    visit_slots(read, frame, [&](const FrameSlot& slot) {
        CHECK(read.pointer(slot.word) == slot.value);
        if (seen.size() < 4096)
            seen.push_back({slot.what, slot.value,
                            slot.name.is_null() ? "" : read.unicode_text(slot.name).value_or("?"),
                            slot.cell});
    });
    return seen;
}

/// An instance of threading.Thread.
Address make_thread_object(PythonHeapBuilder& heap, const char* name, std::uint64_t ident) {
    const Address thread_class =
        heap.python_class("Thread", {.module = "threading", .attributes = {"_target", "_name"}});
    const Address thread = heap.object(thread_class);
    const Address attributes =
        heap.dict({{heap.str("_name"), heap.str(name)},
                   {heap.str("_ident"), heap.integer(static_cast<std::int64_t>(ident))}});
    const TypeInfo& type = heap.type(thread_class);
    if (heap.minor() >= 11) {
        if (heap.minor() >= 13 && (type.flags & inline_values_flag))
            heap.set(thread + type.basicsize, heap.layout().dict_values.valid, std::uint8_t{0});
        heap.put(thread - 24, attributes);
    } else {
        heap.put(thread + static_cast<std::uint64_t>(type.dictoffset), attributes);
    }
    return thread;
}

/// The process's first thread and another one, as the core has them; threading has these globals.
std::vector<CoreThread> make_two_threads(PythonHeapBuilder& heap, Address globals) {
    const Address module = heap.object("module");
    heap.set(module, heap.layout().module.md_dict, globals);
    make_thread(heap, {}, 0x7f0000000640);
    make_thread(heap, {});
    heap.runtime().interpreters.front().modules = heap.dict({{heap.str("threading"), module}});
    CoreThread first, second;
    first.tid = 1;
    first.registers[21] = self;
    second.tid = 4711;
    second.registers[21] = 0x7f0000000640;
    return {second, first};
}

}  // namespace

TEST_CASE("threads: the innermost call comes first, each with the line it is in", "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    FrameMaker frames{heap};
    const std::string lines = line_table(heap);
    const Address outer = frames.make(make_code(heap, {.name = "outer", .lines = lines}), 2);
    const Address inner = frames.make(make_code(heap, {.name = "inner", .lines = lines}), 4, outer);
    const Address state = make_thread(heap, inner);
    const auto threads = threads_of(heap);
    REQUIRE(threads.size() == 1);
    CHECK(threads[0].state == state);
    CHECK(threads[0].thread_id == self);
    CHECK(threads[0].name.empty());
    CHECK_FALSE(threads[0].gil);
    CHECK(calls(threads[0]) ==
          std::vector<std::pair<std::string, std::int32_t>>{{"inner", 12}, {"outer", 10}});
    CHECK(threads[0].frames[0].file == "/srv/app.py");
    CHECK(threads[0].frames[0].frame == inner);
    CHECK(threads[0].frames[0].object == (frames.interpreter() ? Address() : inner));
}

TEST_CASE("threads: a line goes forward and back, and an instruction may have none", "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    FrameMaker frames{heap};
    const Address code = make_code(heap, {.lines = line_table(heap)});
    const std::int32_t last = heap.minor() >= 10 ? 0 : 14;
    const std::pair<std::int32_t, std::int32_t> expected[] = {
        {-2, 10}, {0, 10}, {2, 10}, {4, 12}, {6, 12}, {8, 11}, {10, 11}, {12, last}, {14, last}, {400, last}};
    for (const auto& [offset, line] : expected) {
        heap.runtime().interpreters.clear();
        make_thread(heap, frames.make(code, offset));
        const auto threads = threads_of(heap);
        if (offset < 0 && frames.interpreter()) continue;  // such a frame is not complete
        REQUIRE(threads.at(0).frames.size() == 1);
        CHECK(threads[0].frames[0].line == line);
    }
}

TEST_CASE("threads: from 3.11 on, long steps of the line are numbers of six bits a byte",
          "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    FrameMaker frames{heap};
    if (!frames.interpreter()) return;
    // Form 14: plus 100 (200 is 0x08 and 0x03), three more numbers; then minus 50 (101 is 0x25 and 0x01).
    const Address code = make_code(heap, {.lines = "\xf0\x48\x03\x01\x01\x01\xf0\x65\x01\x01\x01\x01"});
    make_thread(heap, frames.make(code, 0));
    make_thread(heap, frames.make(code, 2));
    const auto threads = threads_of(heap);
    CHECK(threads.at(0).frames.at(0).line == 110);
    CHECK(threads.at(1).frames.at(0).line == 60);
}

TEST_CASE("threads: frames of C code, and those not complete yet, are not listed", "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    FrameMaker frames{heap};
    if (!frames.interpreter()) return;
    const Address code = make_code(heap, {.name = "shown"});
    heap.set(code, layout->code.co_firsttraceable, std::int32_t{2});
    const Address shown = frames.make(code, 4);
    const Address entry = frames.make(code, 4, shown, 3);
    const Address no_code = frames.make(heap.none(), 4, entry);
    const Address starting = frames.make(code, 2, no_code);
    make_thread(heap, starting);
    const auto threads = threads_of(heap);
    REQUIRE(threads.at(0).frames.size() == 1);
    CHECK(threads[0].frames[0].frame == shown);
}

TEST_CASE("threads: what a debugger says about the line comes first", "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    FrameMaker frames{heap};
    const Address frame = frames.make(make_code(heap, {.lines = line_table(heap)}), 4);
    const Address object = frames.interpreter() ? heap.object("frame", 4) : frame;
    heap.set(frame, layout->interpreter_frame.frame_obj, object);
    heap.set(object, layout->frame.f_lineno, std::int32_t{99});
    make_thread(heap, frame);
    CHECK(threads_of(heap).at(0).frames.at(0).line == (heap.minor() >= 10 ? 99 : 12));
    heap.set(object, layout->frame.f_trace, heap.none());
    CHECK(threads_of(heap).at(0).frames.at(0).line == 99);
}

TEST_CASE("threads: the main thread has its name where greenlets are called threads", "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    const std::uint64_t ident = GENERATE(std::uint64_t{0x7f0000123450}, std::uint64_t{0x7f0000000640});
    PythonHeapBuilder heap(*layout);
    const Address main = make_thread_object(heap, "MainThread", ident);
    const Address active =
        heap.dict({{heap.integer(static_cast<std::int64_t>(ident)), main}}, {.general = true});
    const Address globals = heap.dict({{heap.str("_active"), active}, {heap.str("_main_thread"), main}});
    const auto threads = threads_of(heap, make_two_threads(heap, globals));
    REQUIRE(threads.size() == 2);
    const bool of_greenlet = ident == 0x7f0000123450;  // else the other thread has imported threading
    CHECK(threads[0].tid == 1);
    CHECK(threads[0].name == (of_greenlet ? "MainThread" : ""));
    CHECK(threads[1].name == (of_greenlet ? "" : "MainThread"));
}

TEST_CASE("threads: names are those of threading, numbers those of the core", "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    const Address worker = make_thread_object(heap, "Worker-1", self);
    const Address active =
        heap.dict({{heap.integer(static_cast<std::int64_t>(self)), worker}}, {.general = true});
    const auto threads = threads_of(heap, make_two_threads(heap, heap.dict({{heap.str("_active"), active}})));
    REQUIRE(threads.size() == 2);
    CHECK(threads[0].name == "Worker-1");  // the main thread: its number is the process's
    CHECK(threads[0].tid == 1);
    CHECK(threads[1].name.empty());
    CHECK(threads[1].tid == 4711);
    CHECK(threads[0].frames.empty());
    const auto without_notes = threads_of(heap);
    if (layout->thread_state.native_thread_id.present())
        CHECK(without_notes[0].tid == 77);
    else
        CHECK_FALSE(without_notes[0].tid);
}

TEST_CASE("threads: one of them had the interpreter's lock", "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    // 3.6 has a variable for it, whose place is found in the core.
    if (!layout->runtime_state.size.present()) heap.runtime().layout.runtime_state.tstate_current = 16;
    layout = &heap.layout();
    const Address waiting = make_thread(heap, {});
    const Address running = make_thread(heap, {});
    (void)waiting;
    if (layout->runtime_state.tstate_current.present()) {
        const Address runtime = heap.allocate_static(*layout->runtime_state.tstate_current + 8);
        heap.put(runtime + *layout->runtime_state.tstate_current, running);
        heap.runtime().runtime = runtime;
    } else {
        const Address gil = heap.allocate(256);
        const Address interpreter = heap.allocate(*layout->interpreter_state.ceval_gil + 8);
        heap.set(gil, layout->gil.last_holder, running);
        heap.set(interpreter, layout->interpreter_state.ceval_gil, gil);
        heap.runtime().interpreters.front().address = interpreter;
        for (const PythonThread& thread : threads_of(heap)) CHECK_FALSE(thread.gil);  // it was given back
        heap.set(gil, layout->gil.locked, std::int32_t{1});
    }
    for (const PythonThread& thread : threads_of(heap)) CHECK(thread.gil == (thread.state == running));
}

TEST_CASE(
    "threads: a class's body keeps its variables in a dict; a function does not, whatever locals() left",
    "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    FrameMaker frames{heap};
    const Address code = make_code(heap, {});
    const Address frame = frames.make(code, 0);
    const Address globals = heap.dict({}), locals = heap.dict({});
    heap.set(frame, frames.interpreter() ? layout->interpreter_frame.f_globals : layout->frame.f_globals,
             globals);
    heap.set(frame, frames.interpreter() ? layout->interpreter_frame.f_locals : layout->frame.f_locals,
             locals);
    make_thread(heap, frame);
    CHECK(threads_of(heap).at(0).frames.at(0).globals == globals);
    CHECK(threads_of(heap).at(0).frames.at(0).variables == locals);
    heap.set(code, layout->code.co_flags, std::uint32_t{3});
    CHECK(threads_of(heap).at(0).frames.at(0).variables.is_null());
}

TEST_CASE("frame slots: variables by name, cells as such, in order of their place", "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    FrameMaker frames{heap};
    using What = FrameSlot::What;
    const Address code = make_code(heap, {.locals = {"x"}, .cells = {"shared"}, .free = {"outer"}});
    const Address frame = frames.make(code, 0);
    const Address x = heap.integer(1), shared = heap.object("cell"), outer = heap.object("cell"),
                  left_over = heap.list({});
    heap.put(frames.slots(frame), x);
    heap.put(frames.slots(frame) + 8, shared);
    heap.put(frames.slots(frame) + 16, outer);
    heap.put(frames.slots(frame) + 24, left_over);  // it runs: nobody knows whether this is in use
    make_thread(heap, frame);
    const PythonFrame read = threads_of(heap).at(0).frames.at(0);
    std::vector<SeenSlot> expected = {{What::code, code, "", false},
                                      {What::local, x, "x", false},
                                      {What::local, shared, "shared", true},
                                      {What::local, outer, "outer", true}};
    CHECK(slots_of(heap, read) == expected);
    if (frames.interpreter()) {
        heap.set(frame, layout->interpreter_frame.stacktop, std::int32_t{4});
        heap.set(frame, layout->interpreter_frame.stackpointer, frames.slots(frame) + 32);
    } else {
        heap.set(frame, layout->frame.f_stacktop, frames.slots(frame) + 32);
        heap.set(frame, layout->frame.f_stackdepth, std::int32_t{1});
    }
    expected.push_back({What::stack, left_over, "", false});
    CHECK(slots_of(heap, read) == expected);
}

TEST_CASE("generator frame: where it is suspended; none once it has finished", "[cpython][threads]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    FrameMaker frames{heap};
    const auto& l = layout->generator;
    const Address code = make_code(heap, {.name = "produce", .lines = line_table(heap)});
    const Address generator = heap.object("generator", frames.interpreter() ? 16 : 0);
    if (frames.interpreter()) {
        frames.fill(generator + *l.gi_iframe, code, -2, 1);
        const bool counts_up = since(15).contain(layout->version);
        heap.set(generator, l.gi_frame_state, static_cast<std::int8_t>(counts_up ? 1 : -1));
    } else {
        heap.set(generator, l.gi_frame, frames.make(code, -2));
    }
    auto frame = generator_frame(heap.heap(), generator);
    REQUIRE(frame);
    CHECK(frame->name == "produce");
    CHECK(frame->line == 10);  // not started
    if (frames.interpreter())
        heap.set(generator, l.gi_frame_state,
                 static_cast<std::int8_t>(since(15).contain(layout->version) ? 5 : 1));
    else
        heap.set(generator, l.gi_frame, Address());
    CHECK_FALSE(generator_frame(heap.heap(), generator));
}

TEST_CASE("threads: a chain that comes back to itself ends", "[cpython][threads][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    FrameMaker frames{heap};
    const Address code = make_code(heap, {});
    const Address outer = frames.make(code, 0);
    const Address inner = frames.make(code, 0, outer);
    heap.set(outer, frames.interpreter() ? layout->interpreter_frame.previous : layout->frame.f_back, inner);
    make_thread(heap, inner);
    make_thread(heap, outer);  // and no frame is in two threads
    const auto threads = threads_of(heap);
    CHECK(threads.at(0).frames.size() + threads.at(1).frames.size() == 2);
}

TEST_CASE("threads: absurd counts and pointers are not believed", "[cpython][threads][damaged]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    PythonHeapBuilder heap(*layout);
    FrameMaker frames{heap};
    const Address code = make_code(heap, {.locals = {"x"}, .lines = line_table(heap)});
    const Address frame = frames.make(code, 4, Address(0x123456789000));
    make_thread(heap, frame);
    const Address lines = heap.heap().pointer(code + *layout->code.co_linetable);
    for (const std::int64_t size : {std::int64_t{-1}, std::int64_t{1} << 40, INT64_MIN}) {
        heap.set(lines, layout->var_object.ob_size, size);
        CHECK(threads_of(heap).at(0).frames.at(0).line == (heap.minor() >= 10 ? 0 : 10));
    }
    heap.set(code, layout->code.co_filename, Address(0x123456789000));
    CHECK(threads_of(heap).at(0).frames.at(0).file == "?");
    const PythonFrame read = threads_of(heap).at(0).frames.at(0);
    for (const std::int32_t count : {-1, 1 << 30}) {
        heap.set(code, layout->code.co_nlocals, count);
        heap.set(code, layout->code.co_nlocalsplus, count);
        heap.set(code, layout->code.co_stacksize, count);
        CHECK(slots_of(heap, read).size() <= 6);
    }
    heap.set(frame, frames.interpreter() ? layout->interpreter_frame.f_executable : layout->frame.f_code,
             Address(0x123456789000));
    const auto threads = threads_of(heap);
    for (const PythonFrame& torn : threads.at(0).frames) {
        CHECK(torn.name == "?");
        CHECK(torn.line == 0);
        CHECK(slots_of(heap, torn).size() <= 6);
    }
}
