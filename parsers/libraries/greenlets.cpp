#include "parsers/libraries/greenlets.h"

// A greenlet is a Python object, and what it does is nobody's: while it waits its calls are on no thread's chain of
// frames, and its traverse does not visit them. So whatever four thousand
// stuck requests hold would be "held by native code". The greenlet knows where its calls are:
//
// - Up to 3.10 it owns its innermost frame object, which leads to the rest.
// - From 3.11 on it keeps what the thread had: the innermost interpreter frame, and the chunk of data stack in which
//   the frames lie; it holds whatever they hold. In 3.12 and later every native call of the interpreter's loop has a
//   frame of its own among them, on the machine's stack. Other greenlets use that stack now: what it held was copied
//   to a block of malloc's, and is read there.
//
// Up to 1.1 (PyGreenlet of greenlet.h) all of it are fields of the object. Since 2.0 the object has one pointer, to
// a C++ object without standard layout: a table of virtual functions, (3.1 and later: the Python object,) what
// sys.exc_info() returns, the arguments of a switch, the machine's stack, the interpreter's state, and in all but
// a thread's main greenlet the main one, the function and the parent. How long these parts are goes by the version of
// Python. (greenlet 0.4.17 to 3.2: greenlet.h, greenlet_greenlet.hpp, TGreenlet.hpp, TPythonState.cpp.) No version
// is written anywhere, so each field must be what it has to be, or nothing is believed.

#include "parsers/cpython/build/frames.h"
#include "parsers/cpython/interpreter_frames.h"
#include "parsers/cpython/running_frames.h"
#include "parsers/libraries/kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t most_calls = 1 << 16;
constexpr std::uint64_t most_saved = 1ULL << 30;
constexpr std::uint8_t owned_by_thread = 0;
// PyGreenlet since 2.0, and the parts of it before
constexpr std::uint64_t implementation_at = 32, old_weak_list_at = 88;

/// Offsets in the C++ object, or, up to 1.1, in the Python object.
struct GreenletLayout {
    std::uint64_t exception = 0,
                  exception_words = 0;            // what it has of sys.exc_info(): type, value, traceback
    std::uint64_t arguments = 0;                  // two words; 0: none
    std::uint64_t stack = 0;                      // start, stop, copy, bytes saved, previous
    std::uint64_t context = 0, top_frame = 0;     // context 0: none
    std::uint64_t current_frame = 0;              // and the chunk, its top and limit; 0: up to 3.10
    std::uint64_t main = 0, run = 0, parent = 0;  // main 0: none
    std::uint64_t size = 0;
};

/// Words that the library keeps of a thread's state between its top frame and its current frame. They are
/// counters and pointers that no object is behind: _PyCFrame and whether it traces, depths of recursion, the
/// trashcan's list.
std::uint64_t words_of_state(const Layout& layout) {
    const LayoutVersion version = layout.version;
    if (since(14).contain(version)) return 4;
    if (since(13).contain(version)) return 2;
    return since(10).contain(version) ? 3 : 1;
}

GreenletLayout layout_since_2(const Layout& layout, bool knows_object) {
    GreenletLayout l;
    const bool one_exception = since(11).contain(layout.version);
    l.exception = knows_object ? 24 : 16;  // behind exc_info
    l.exception_words = one_exception ? 1 : 3;
    l.arguments = l.exception + (one_exception ? 16 : 32);
    l.stack = l.arguments + 16;
    l.context = l.stack + 40;
    l.top_frame = l.context + 8;
    std::uint64_t at = l.top_frame + 8 + 8 * words_of_state(layout);
    if (has_interpreter_frames(layout)) {
        l.current_frame = at;
        at += 32;
    }
    if (!knows_object) at += 8;  // it stands here
    l.main = at;
    l.run = at + 8;
    l.parent = at + 16;
    l.size = at + 24;
    return l;
}

/// `basicsize` is of greenlet itself: with contextvars the object has one more.
GreenletLayout layout_until_1(const TypeInfo& greenlet) {
    GreenletLayout l;
    l.stack = 16;
    l.parent = 56;
    l.run = 64;
    l.top_frame = 72;
    l.exception = 104;  // behind exc_info, of 3.7 and later
    l.exception_words = 3;
    l.context = greenlet.basicsize >= 152 ? 144 : 0;
    l.size = greenlet.basicsize;
    return l;
}

class Greenlet {
public:
    explicit Greenlet(const ObjectReader& object) : object_(object), heap_(object.heap()) { locate(); }

    bool reads() const { return !at_.is_null(); }
    Address start() const { return at_; }
    const GreenletLayout& layout() const { return l_; }
    bool has_block() const { return at_ != object_.address(); }
    bool is_main() const { return is_main_; }

    Address word(std::uint64_t offset) const { return heap_.pointer(at_ + offset); }

    GreenletFacts facts() const {
        GreenletFacts facts;
        using State = GreenletFacts::State;
        const Address stack = word(l_.stack), stop = word(l_.stack + 8);
        if (stop.is_null()) return facts;
        const Address frame = word(l_.current_frame ? l_.current_frame : l_.top_frame);
        facts.state = stack.is_null()                ? State::finished
                      : word(l_.top_frame).is_null() ? State::running
                      : frame.is_null()              ? State::running
                                                     : State::suspended;
        if (facts.state != State::suspended) return facts;
        facts.frame = frame;
        facts.stack = stack;
        facts.stack_end = stop;
        facts.copy = word(l_.stack + 16);
        facts.saved = facts.copy.is_null() ? 0 : word(l_.stack + 24).value;
        if (l_.current_frame) facts.data_stack = word(l_.current_frame + 8);
        return facts;
    }

private:
    void locate() {
        TypeId base = heap_.types().id_of(object_.type());
        for (int steps = 0; base != no_type && steps < 64 && heap_.types()[base].python_class; ++steps)
            base = heap_.types()[base].base;
        for (int steps = 0; base != no_type && steps < 64 && heap_.types()[base].name != "greenlet.greenlet";
             ++steps)
            base = heap_.types()[base].base;
        if (base == no_type) return;
        const TypeInfo& greenlet = heap_.types()[base];
        if (greenlet.basicsize == implementation_at + 8) {
            const Address at = object_.at(implementation_at);
            const Address implementation = heap_.pointer(at);
            if (!implementation.aligned(8) || implementation.is_null()) return;
            const bool knows_object = heap_.pointer(implementation + 8) == object_.address();
            try_layout(implementation, layout_since_2(object_.layout(), knows_object));
        } else if (greenlet.weaklistoffset == static_cast<std::int64_t>(old_weak_list_at)) {
            try_layout(object_.address(), layout_until_1(greenlet));
        }
    }

    void try_layout(Address at, const GreenletLayout& l) {
        if (heap_.memory().mapped_bytes(at, l.size) < l.size - 24) return;
        const auto word = [&](std::uint64_t offset) { return heap_.pointer(at + offset); };
        const auto object_or_null = [&](Address a) {
            return a.is_null() || (a.aligned(8) && heap_.type_of(a) != no_type);
        };
        const auto of_type = [&](Address a, KnownType known) {
            return a.is_null() || heap_.types().is(heap_.type_of(a), known);
        };
        const auto greenlet_or_null = [&](Address a) {
            const TypeId type = a.is_null() ? no_type : heap_.type_of(a);
            return a.is_null() || (type != no_type && is_greenlet(heap_.types()[type]));
        };
        if (!of_type(word(l.top_frame), KnownType::frame)) return;
        if (l.context && !object_or_null(word(l.context))) return;
        for (std::uint64_t i = 0; l.arguments && i < 2; ++i)
            if (!object_or_null(word(l.arguments + 8 * i))) return;
        for (std::uint64_t i = 0; i < l.exception_words; ++i)
            if (!object_or_null(word(l.exception + 8 * i))) return;
        const Address start = word(l.stack), stop = word(l.stack + 8), copy = word(l.stack + 16);
        const std::uint64_t saved = word(l.stack + 24).value;
        const bool stops_nowhere = stop.value == ~std::uint64_t{0};  // of a thread's main greenlet
        if (!start.is_null() && !stop.is_null() && stop < start) return;
        if (!copy.is_null() && saved > most_saved) return;
        if (l.current_frame && !word(l.top_frame).is_null() && word(l.current_frame).is_null()) return;
        // A main greenlet's C++ object ends before the function and the parent.
        is_main_ = stops_nowhere;
        if (!is_main_ && (!greenlet_or_null(word(l.parent)) || !object_or_null(word(l.run)) ||
                          (l.main && !greenlet_or_null(word(l.main)))))
            return;
        at_ = at;
        l_ = l;
    }

    const ObjectReader& object_;
    const PythonHeap& heap_;
    Address at_;
    GreenletLayout l_;
    bool is_main_ = false;
};

/// Where an interpreter frame's caller stands. Frames on the machine's stack are read from the copy.
Address caller_of(const PythonHeap& heap, const GreenletFacts& facts, Address frame) {
    Address word = frame + *heap.layout().interpreter_frame.previous;
    if (facts.stack <= word && word < facts.stack + facts.saved) word = facts.copy + (word - facts.stack);
    return heap.pointer(word);
}

/// The interpreter frames of a suspended greenlet that are its own: not those that lie on the machine's stack, nor
/// those inside a generator or a frame object, which report what they hold themselves.
template <class F>
void visit_own_frames(const PythonHeap& heap, const GreenletFacts& facts, bool of_generators, F&& visit) {
    const auto& l = heap.layout().interpreter_frame;
    if (!l.previous.present()) return;
    std::unordered_set<std::uint64_t> seen;
    for (Address at = facts.frame; !at.is_null() && seen.size() < most_calls && seen.insert(at.value).second;
         at = caller_of(heap, facts, at)) {
        if (facts.stack <= at && at < facts.stack_end) continue;
        const auto owner =
            l.owner.present() ? heap.integer<std::uint8_t>(at + *l.owner) : std::uint8_t{owned_by_thread};
        if (owner != owned_by_thread && !of_generators) continue;
        const Address code = interpreter_frame_code(heap, at);
        if (!heap.types().is(heap.type_of(code), KnownType::code)) continue;
        visit(at, code);
    }
}

std::uint64_t place_of(const PythonHeap& heap, Address frame, const FrameSlot& slot) {
    using What = FrameSlot::What;
    const std::uint64_t local = (slot.word - (frame + *heap.layout().interpreter_frame.localsplus)) / 8;
    switch (slot.what) {
        case What::function:
            return frame_place(FrameWord::function, 0);
        case What::code:
            return frame_place(FrameWord::code, 0);
        case What::locals:
            return frame_place(FrameWord::locals, 0);
        case What::frame:
            return frame_place(FrameWord::frame, 0);
        case What::local:
            return frame_place(FrameWord::local, local);
        case What::stack:
            break;
    }
    return frame_place(FrameWord::value, 0);
}

/// Guesses of one greenlet have different numbers, above those of words of its body (gevent's are guessed): the words
/// of all its value stacks from here on, and those of C code's stack.
constexpr std::uint64_t first_on_value_stack = 1 << 24, first_on_c_stack = 1 << 28,
                        most_on_c_stack = most_saved / 8;

/// What the greenlet's frames hold, from 3.11 on: what is on their value stacks is guessed.
void visit_frames(const ObjectReader& object, const GreenletFacts& facts, ReferenceVisitor& visit) {
    const PythonHeap& heap = object.heap();
    std::uint64_t number = first_on_value_stack;
    visit_own_frames(heap, facts, false, [&](Address at, Address code) {
        PythonFrame frame;
        frame.frame = at;
        frame.code = code;
        visit_slots(heap, frame, [&](const FrameSlot& slot) {
            visit.visit(slot.value, ReferenceKind::hidden,
                        {ReferenceName::Form::frame_place, "", place_of(heap, at, slot), code});
        });
        // How much of the value stack is in use, only a register knew.
        const FramePlaces places = interpreter_frame_places(heap, at, code);
        const Address first = at + *heap.layout().interpreter_frame.localsplus;
        for (std::int32_t i = places.locals; places.running && i < places.used && number < first_on_c_stack;
             ++i) {
            const Address target = untagged(heap.pointer(first + 8 * static_cast<std::uint64_t>(i)));
            if (!target.is_null() && target.aligned(8) && heap.type_of(target) != no_type)
                visit.visit(
                    target, ReferenceKind::guess,
                    {ReferenceName::Form::frame_place, "", frame_place(FrameWord::value, number++), code});
        }
    });
}

/// C code's variables on the machine's stack: whose count has room for one more is held there. A pointer is passed
/// from call to call, and one of them owns it: each object counts once, for its outermost call. (Another greenlet than
/// the one it was switched from is what is left of earlier calls.) Guesses are numbered from where the stack began:
/// greenlets that were started alike have the same variable of the same call there, and what most of their objects'
/// counts say of it decides where one count says nothing.
void visit_saved_stack(const ObjectReader& object, const GreenletFacts& facts, Address parent,
                       ReferenceVisitor& visit) {
    const std::uint64_t words = object.readable_items(facts.copy, static_cast<std::int64_t>(facts.saved / 8));
    std::uint64_t whole = (facts.stack_end - facts.stack) / 8;
    if (whole >= most_on_c_stack) whole = words;  // of a thread's main greenlet, whose stack ends nowhere
    std::vector<std::pair<Address, std::uint64_t>> targets;  // with their number
    for (std::uint64_t i = 0; i < std::min(words, whole); ++i) {
        const Address target = object.heap().pointer(facts.copy + 8 * i);
        const TypeId type = target.aligned(8) ? object.heap().type_of(target) : no_type;
        if (type == no_type || (is_greenlet(object.heap().types()[type]) && target != parent)) continue;
        targets.emplace_back(target, whole - i);
    }
    std::sort(targets.begin(), targets.end());
    targets.erase(std::unique(targets.begin(), targets.end(),
                              [](const auto& a, const auto& b) { return a.first == b.first; }),
                  targets.end());
    for (const auto& [target, number] : targets)
        visit.visit(target, ReferenceKind::guess,
                    {ReferenceName::Form::text, ".<stack of C code>", first_on_c_stack + number, {}});
}

void greenlet_references(const ObjectReader& object, ReferenceVisitor& visit) {
    if (object.type().dictoffset > 0)
        visit.named(object.heap().pointer(object.at(static_cast<std::uint64_t>(object.type().dictoffset))),
                    ".__dict__");
    const Greenlet greenlet(object);
    if (!greenlet.reads()) return;
    const GreenletLayout& l = greenlet.layout();
    if (!greenlet.is_main()) {
        visit.named(greenlet.word(l.parent), ".parent");
        if (l.main) visit.named(greenlet.word(l.main), ".<main greenlet>");
        visit.named(greenlet.word(l.run), ".run");
    }
    for (std::uint64_t i = 0; i < l.exception_words; ++i)
        visit.named(greenlet.word(l.exception + 8 * i), ".<exception>");
    if (l.context) visit.named(greenlet.word(l.context), ".gr_context");
    for (std::uint64_t i = 0; l.arguments && i < 2; ++i)
        visit.named(greenlet.word(l.arguments + 8 * i), ".<arguments>", ReferenceKind::hidden);
    const GreenletFacts facts = greenlet.facts();
    if (facts.state != GreenletFacts::State::suspended) return;
    if (has_interpreter_frames(object.layout()))
        visit_frames(object, facts, visit);
    else
        visit.named(facts.frame, ".gr_frame", ReferenceKind::hidden);
    visit_saved_stack(object, facts, greenlet.is_main() ? Address() : greenlet.word(l.parent), visit);
}

void greenlet_buffers(const ObjectReader& object, BufferVisitor& visit) {
    const Greenlet greenlet(object);
    if (!greenlet.reads()) return;
    if (greenlet.has_block())
        visit.visit(greenlet.start(), greenlet.layout().size - (greenlet.is_main() ? 24 : 0), false);
    const GreenletFacts facts = greenlet.facts();
    if (facts.saved != 0) visit.visit(facts.copy, facts.saved, false);
}

ShortValue describe_greenlet(const ObjectReader& object, std::size_t) {
    const auto facts = greenlet_facts(object);
    if (!facts) return {};
    using State = GreenletFacts::State;
    std::string text = facts->state == State::unstarted  ? "not started"
                       : facts->state == State::finished ? "finished"
                                                         : "running";
    if (facts->state == State::suspended) {
        const auto frames = greenlet_frames(object);
        text = frames.empty()
                   ? "suspended"
                   : fmt::format("suspended in {}(), line {}", frames.front().name, frames.front().line);
    }
    return {ShortValue::Kind::summary, std::move(text), 0};
}

/// What C code's variables hold is a guess.
bool is_exact(const ObjectReader& object) {
    const auto facts = greenlet_facts(object);
    return facts && facts->saved == 0;
}

constexpr const char* greenlet_names[] = {"greenlet.greenlet"};

}  // namespace

const ObjectKind greenlet_kind = {.name = "greenlet",
                                  .type_names = greenlet_names,
                                  .visit_buffers = greenlet_buffers,
                                  .visit_references = greenlet_references,
                                  .describe = describe_greenlet,
                                  .exact = is_exact};

bool is_greenlet(const TypeInfo& type) { return type.kind == &greenlet_kind; }

std::optional<GreenletFacts> greenlet_facts(const ObjectReader& greenlet) {
    const Greenlet read(greenlet);
    return read.reads() ? std::optional(read.facts()) : std::nullopt;
}

std::vector<PythonFrame> greenlet_frames(const ObjectReader& greenlet) {
    const auto facts = greenlet_facts(greenlet);
    if (!facts || facts->state != GreenletFacts::State::suspended) return {};
    std::vector<Address> frames;
    const PythonHeap& heap = greenlet.heap();
    if (has_interpreter_frames(heap.layout())) {
        visit_own_frames(heap, *facts, true, [&](Address frame, Address) { frames.push_back(frame); });
    } else {
        std::unordered_set<std::uint64_t> seen;
        for (Address at = facts->frame;
             !at.is_null() && seen.size() < most_calls && seen.insert(at.value).second;
             at = heap.layout().frame.f_back.present() ? heap.pointer(at + *heap.layout().frame.f_back)
                                                       : Address())
            frames.push_back(at);
    }
    return suspended_frames(heap, frames);
}

}  // namespace heapsift
