// Greenlets as greenlet 2 and 3 keep them, in memory made by hand: what those that wait hold, and fields that are not
// what they have to be. (The offsets are those of greenlet 2.0.2 under CPython 3.11 and of 3.1.0 under 3.13.)

#include "parsers/libraries/greenlets.h"
#include "parsers/cpython/build/frames.h"
#include "parsers/libraries/kinds.h"
#include "tests/cpython/heap_questions.h"

#include <algorithm>
#include <map>
#include <vector>

using namespace heapsift;
using namespace heapsift::test;

namespace {

using State = GreenletFacts::State;
constexpr auto hidden = ReferenceKind::hidden;

/// Where fields of the C++ object stand.
struct Offsets {
    std::uint64_t exception, arguments, stack, context, frame, current, main, run, parent;
};

Offsets offsets(const Layout& layout, bool knows_object) {
    const std::uint64_t first = knows_object ? 24 : 16, before = since(13).contain(layout.version) ? 16 : 24;
    Offsets at{.exception = first,
               .arguments = first + 16,
               .stack = first + 32,
               .context = first + 72,
               .frame = first + 80,
               .current = first + 88 + before,
               .main = 0,
               .run = 0,
               .parent = 0};
    at.main = at.current + 32 + (knows_object ? 0 : 8);
    at.run = at.main + 8;
    at.parent = at.main + 16;
    return at;
}

struct Process {
    explicit Process(const Layout& of, bool knows = false)
        : layout(of), at(offsets(of, knows)), knows_object(knows), heap(of) {
        heap.kinds.push_back(&greenlet_kind);
        type = heap.c_type("greenlet.greenlet", {.basicsize = 40, .dictoffset = 24});
        parent = make();
        greenlet = make();
        heap.put(block(greenlet) + at.main, parent);
        heap.put(block(greenlet) + at.parent, parent);
    }

    Address make() {
        const Address made = heap.object(type), block = heap.allocate(256);
        heap.put(made + 32, block);
        if (knows_object) heap.put(block + 8, made);
        return made;
    }
    Address block(Address of) { return heap.heap().pointer(of + 32); }

    Address code(const std::string& name, const std::string& local) {
        const auto& l = layout.code;
        const Address made = heap.object("code");
        heap.set(made, l.co_name, heap.str(name));
        heap.set(made, l.co_qualname, heap.str(name));
        heap.set(made, l.co_nlocalsplus, std::int32_t{1});
        heap.set(made, l.co_stacksize, std::int32_t{1});
        heap.set(made, l.co_localsplusnames, heap.tuple({heap.str(local)}));
        heap.set(made, l.co_localspluskinds, heap.bytes(std::string(1, '\x20')));
        return made;
    }
    Address frame(Address of, Address local, Address on_stack, Address caller) {
        const auto& l = layout.interpreter_frame;
        const Address made = heap.allocate(256);
        heap.set(made, l.f_executable, of);
        heap.set(made, l.stacktop, std::int32_t{-1});
        heap.set(made, l.previous, caller);
        heap.set(made, l.owner, std::uint8_t{0});
        heap.set(made, l.instr_ptr, of + *layout.code.co_code_adaptive);
        heap.put(made + *l.localsplus, local);
        heap.put(made + *l.localsplus + 8, on_stack);
        return made;
    }
    /// It waits in inner(), which outer() called through a frame on the machine's stack: that is another's now, and
    /// in a copy the pointer to outer()'s frame is left.
    void wait() {
        outer_code = code("outer", "kept");
        inner_code = code("inner", "payload");
        kept = heap.list({});
        payload = heap.list({});
        argument = heap.tuple({});
        on_c_stack = heap.tuple({});
        outer = frame(outer_code, kept, {}, {});
        const Address entry = stack + 512;
        inner = frame(inner_code, payload, argument, entry);
        const Address copy = heap.allocate(1024), to = block(greenlet);
        heap.put(copy + 512 + *layout.interpreter_frame.previous, outer);
        heap.put(copy + 8, on_c_stack);
        heap.put(copy + 16, on_c_stack);
        heap.put(copy + 24, greenlet);
        const std::uint64_t words[] = {stack.value, stack.value + 2048, copy.value, 1024, 0};
        for (std::uint64_t i = 0; i < 5; ++i) heap.put(to + at.stack + 8 * i, words[i]);
        heap.put(to + at.frame, heap.object("frame", 3));
        heap.put(to + at.current, inner);
    }

    std::optional<GreenletFacts> facts(Address of) { return greenlet_facts(heap.reader(of)); }

    const Layout& layout;
    Offsets at;
    bool knows_object;
    PythonHeapBuilder heap;
    Address stack{0x7ffc00000000};
    Address type, parent, greenlet, outer, inner, outer_code, inner_code, kept, payload, argument, on_c_stack;
};

const Layout* with_interpreter_frames() {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    return has_interpreter_frames(*layout) && until(13).contain(layout->version) ? layout : nullptr;
}

}  // namespace

TEST_CASE("greenlet: one that waits holds what its calls hold", "[libraries][greenlet]") {
    const Layout* layout = with_interpreter_frames();
    const bool knows_object = GENERATE(false, true);
    if (!layout) return;
    Process p(*layout, knows_object);
    p.wait();
    const auto facts = p.facts(p.greenlet);
    REQUIRE(facts);
    CHECK(facts->state == State::suspended);
    CHECK(facts->frame == p.inner);
    CHECK(facts->saved == 1024);
    CHECK(reference(p.heap, p.greenlet, ".parent").target == p.parent);
    CHECK(reference(p.heap, p.greenlet, "inner() local 'payload'") ==
          Seen{p.payload, "inner() local 'payload'", hidden});
    CHECK(reference(p.heap, p.greenlet, "outer() local 'kept'") ==
          Seen{p.kept, "outer() local 'kept'", hidden});
    CHECK(reference(p.heap, p.greenlet, "inner() <code>").target == p.inner_code);
    CHECK(reference(p.heap, p.greenlet, "inner() <value stack>") ==
          Seen{p.argument, "inner() <value stack>", ReferenceKind::guess});
    // What C code's variables hold counts once for each object; itself, it does not keep.
    std::size_t on_stack = 0;
    for (const Seen& seen : references(p.heap, p.greenlet))
        if (seen.name == ".<stack of C code>") {
            ++on_stack;
            CHECK(seen.target == p.on_c_stack);
            CHECK(seen.kind == ReferenceKind::guess);
        }
    CHECK(on_stack == 1);
    const auto frames = greenlet_frames(p.heap.reader(p.greenlet));
    REQUIRE(frames.size() == 2);
    CHECK(frames[0].name == "inner");
    CHECK(frames[1].name == "outer");
    CHECK(text_of(p.heap, p.greenlet).starts_with("suspended in inner()"));
    const auto owned = buffers(p.heap, p.greenlet);
    REQUIRE(owned.size() == 2);
    CHECK(owned[0].start == p.block(p.greenlet));
    CHECK(owned[1].bytes == 1024);
}

TEST_CASE("greenlet: no two of its guesses have one number, which is how a verdict finds them",
          "[libraries][greenlet]") {
    const Layout* layout = with_interpreter_frames();
    if (!layout) return;
    Process p(*layout);
    p.wait();
    p.heap.put(p.outer + *layout->interpreter_frame.localsplus + 8, p.heap.tuple({}));
    struct Numbers final : ReferenceVisitor {
        void visit(Address, ReferenceKind kind, const ReferenceName& name) override {
            if (kind == ReferenceKind::guess) numbers.push_back(static_cast<std::uint32_t>(name.number));
        }
        std::vector<std::uint32_t> numbers;
    } seen;
    greenlet_kind.visit_references(p.heap.reader(p.greenlet), seen);
    CHECK(seen.numbers.size() == 3);  // on two value stacks, and on that of C code
    std::sort(seen.numbers.begin(), seen.numbers.end());
    CHECK(std::adjacent_find(seen.numbers.begin(), seen.numbers.end()) == seen.numbers.end());
    CHECK(seen.numbers.front() >= 1 << 21);  // above those of words in the body
}

TEST_CASE("greenlet: before and after", "[libraries][greenlet]") {
    const Layout* layout = with_interpreter_frames();
    if (!layout) return;
    Process p(*layout);
    REQUIRE(p.facts(p.greenlet));
    CHECK(p.facts(p.greenlet)->state == State::unstarted);
    CHECK(text_of(p.heap, p.greenlet) == "not started");
    const Address block = p.block(p.greenlet);
    p.heap.put(block + p.at.stack + 8, p.stack + 2048);
    CHECK(text_of(p.heap, p.greenlet) == "finished");
    p.heap.put(block + p.at.stack, p.stack);
    CHECK(text_of(p.heap, p.greenlet) == "running");
    CHECK(greenlet_frames(p.heap.reader(p.greenlet)).empty());
}

TEST_CASE("greenlet: what is not as it has to be is not believed", "[libraries][greenlet][damaged]") {
    const Layout* layout = with_interpreter_frames();
    if (!layout) return;
    Process p(*layout);
    p.wait();
    const Address block = p.block(p.greenlet);
    const Address list = p.heap.list({});
    SECTION("the frame") { p.heap.put(block + p.at.frame, list); }
    SECTION("the parent") { p.heap.put(block + p.at.parent, list); }
    SECTION("an argument") { p.heap.put(block + p.at.arguments, std::uint64_t{12345}); }
    SECTION("the exception") { p.heap.put(block + p.at.exception, std::uint64_t{12345}); }
    SECTION("more saved than a stack has") { p.heap.put(block + p.at.stack + 24, std::uint64_t{1} << 40); }
    SECTION("a stack that ends before it begins") { p.heap.put(block + p.at.stack + 8, p.stack - 8); }
    SECTION("the C++ object") { p.heap.put(p.greenlet + 32, std::uint64_t{0x1000}); }
    CHECK_FALSE(p.facts(p.greenlet));
    CHECK(reference(p.heap, p.greenlet, "inner() local 'payload'").target.is_null());
    ask_everything(p.heap, p.greenlet);
}

TEST_CASE("greenlet: calls in a ring end", "[libraries][greenlet][damaged]") {
    const Layout* layout = with_interpreter_frames();
    if (!layout) return;
    Process p(*layout);
    p.wait();
    p.heap.set(p.outer, layout->interpreter_frame.previous, p.inner);
    CHECK(greenlet_frames(p.heap.reader(p.greenlet)).size() == 2);
}

TEST_CASE("greenlet: a word of C code's stack is numbered from where the stack began",
          "[libraries][greenlet]") {
    const Layout* layout = with_interpreter_frames();
    if (!layout) return;
    struct Numbers final : ReferenceVisitor {
        void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
            if (kind == ReferenceKind::guess) numbers[target.value] = name.number;
        }
        std::map<std::uint64_t, std::uint64_t> numbers;
    } first, deeper;
    Process p(*layout);
    p.wait();
    const Address outer = p.heap.list({}), to = p.block(p.greenlet),
                  copy = p.heap.heap().pointer(to + p.at.stack + 16);
    p.heap.put(copy + 64, outer);
    greenlet_kind.visit_references(p.heap.reader(p.greenlet), first);
    // Twenty words further down, in a copy of its own: the calls before that are the same.
    const Address other = p.heap.allocate(1024 + 160);
    for (std::uint64_t i = 0; i < 1024 / 8; ++i)
        p.heap.put(other + 160 + 8 * i, p.heap.heap().pointer(copy + 8 * i));
    const std::uint64_t words[] = {p.stack.value - 160, p.stack.value + 2048, other.value, 1024 + 160};
    for (std::uint64_t i = 0; i < 4; ++i) p.heap.put(to + p.at.stack + 8 * i, words[i]);
    greenlet_kind.visit_references(p.heap.reader(p.greenlet), deeper);
    REQUIRE(first.numbers.contains(outer.value));
    CHECK(deeper.numbers == first.numbers);
    // Of two words for one object that of the outer call counts.
    CHECK(first.numbers.at(p.on_c_stack.value) - first.numbers.at(outer.value) == (64 - 16) / 8);
}

TEST_CASE("greenlet: up to 1.1 it has its fields itself, and up to 3.10 a frame object",
          "[libraries][greenlet]") {
    const Layout* layout = GENERATE(from_range(layouts_of_3()));
    if (has_interpreter_frames(*layout)) return;
    PythonHeapBuilder heap(*layout);
    heap.kinds.push_back(&greenlet_kind);
    const Address type = heap.c_type("greenlet.greenlet", {.basicsize = 152, .dictoffset = 136});
    heap.set(type, layout->type.tp_weaklistoffset, std::int64_t{88});
    const Address greenlet = heap.object(type), parent = heap.object(type), frame = heap.object("frame", 3);
    const Address copy = heap.allocate(64), held = heap.tuple({});
    heap.put(greenlet + 16, std::uint64_t{0x7ffc00000000});
    heap.put(greenlet + 24, std::uint64_t{0x7ffc00001000});
    heap.put(greenlet + 32, copy);
    heap.put(greenlet + 40, std::uint64_t{64});
    heap.put(greenlet + 56, parent);
    heap.put(greenlet + 72, frame);
    heap.put(copy + 16, held);
    CHECK(reference(heap, greenlet, ".gr_frame") == Seen{frame, ".gr_frame", hidden});
    CHECK(reference(heap, greenlet, ".parent").target == parent);
    CHECK(reference(heap, greenlet, ".<stack of C code>").target == held);
    CHECK(buffers(heap, greenlet).size() == 1);
}
