// A thread keeps the frames of its running Python functions in chunks of memory, one after the other. When a
// function returns its frame is only released: its content stays there, and would look like references. So a
// word of a chunk only counts if it is a slot of a running frame, which is found from the thread's current
// frame through `previous`. How much of a frame's value stack is in use is known if the frame called another;
// of the topmost frame's, all of it may be. (pycore_frame.h, pystate.c)

#include "parsers/cpython/running_frames.h"

#include "parsers/cpython/interpreter_frames.h"

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t most_chunks = 1 << 16;

}  // namespace

RunningFrames::RunningFrames(const PythonHeap& heap) {
    const Layout& l = heap.layout();
    if (!has_interpreter_frames(l)) return;
    std::unordered_set<std::uint64_t> seen;
    for (const PythonInterpreter& interpreter : heap.runtime().interpreters)
        for (const Address thread : interpreter.threads) {
            walk_chunks(heap, thread);
            visit_frame_chain(heap, current_interpreter_frame(heap, thread), l.interpreter_frame.previous,
                              seen, [&](Address frame) { add_frame(heap, frame); });
        }
    std::sort(chunks_.begin(), chunks_.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    std::stable_sort(slots_.begin(), slots_.end(),
                     [](const Slot& a, const Slot& b) { return a.word < b.word; });
}

void RunningFrames::walk_chunks(const PythonHeap& heap, Address thread) {
    const auto& l = heap.layout().stack_chunk;
    if (!heap.layout().thread_state.datastack_chunk.present() || !l.size.present()) return;
    Address chunk = heap.pointer(thread + *heap.layout().thread_state.datastack_chunk);
    for (std::size_t n = 0; !chunk.is_null() && n < most_chunks; ++n) {
        const auto size = heap.integer<std::uint64_t>(chunk + *l.chunk_size);
        if (size < *l.data || heap.memory().mapped_bytes(chunk, size) != size) return;
        chunks_.push_back({chunk, chunk + size});
        chunk = heap.pointer(chunk + *l.previous);
    }
}

void RunningFrames::add_frame(const PythonHeap& heap, Address frame) {
    const auto& l = heap.layout().interpreter_frame;
    const Address code = interpreter_frame_code(heap, frame);
    auto add = [&](Address word, FrameWord what, std::uint32_t number = 0) {
        slots_.push_back({word, code, what, number});
    };
    add(frame + *l.f_executable, FrameWord::code);
    add(frame + *l.f_funcobj, FrameWord::function);
    add(frame + *l.f_locals, FrameWord::locals);
    add(frame + *l.frame_obj, FrameWord::frame);
    const FramePlaces places = interpreter_frame_places(heap, frame, code);
    for (std::int32_t i = 0; i < places.used; ++i)
        add(frame + *l.localsplus + 8 * static_cast<std::uint64_t>(i),
            i < places.locals ? FrameWord::local : FrameWord::value, static_cast<std::uint32_t>(i));
}

bool RunningFrames::is_stack(Address word) const {
    auto it = std::upper_bound(chunks_.begin(), chunks_.end(), word,
                               [](Address a, const AddressRange& r) { return a < r.start; });
    return it != chunks_.begin() && (it - 1)->contains(word);
}

const RunningFrames::Slot* RunningFrames::slot(Address word) const {
    const auto it = std::lower_bound(slots_.begin(), slots_.end(), word,
                                     [](const Slot& s, Address a) { return s.word < a; });
    return it != slots_.end() && it->word == word ? &*it : nullptr;
}

std::optional<std::string> RunningFrames::slot_name(const PythonHeap& heap, Address word) const {
    const Slot* found = slot(word);
    if (!found) return std::nullopt;
    return frame_place_name(heap, found->code, frame_place(found->what, found->number));
}

ReferenceStep frame_place_step(const PythonHeap& heap, Address code, std::uint64_t place) {
    const auto& l = heap.layout().code;
    const std::string function =
        heap.unicode_text(heap.pointer(code + *(l.co_qualname.present() ? l.co_qualname : l.co_name)), 200)
            .value_or("?") +
        "()";
    const auto nameless = [&](const char* what) {
        ReferenceStep step = named_step(function + what);
        step.nameless = true;
        return step;
    };
    switch (static_cast<FrameWord>(place >> 32)) {
        case FrameWord::function:
            return nameless(" <function>");
        case FrameWord::code:
            return nameless(" <code>");
        case FrameWord::locals:
            return nameless(" <f_locals>");
        case FrameWord::frame:
            return nameless(" <frame>");
        case FrameWord::value:
            return nameless(" <value stack>");
        case FrameWord::local:
            break;
    }
    ReferenceStep step;
    step.kind = ReferenceStep::Kind::frame_local;
    step.nameless = true;
    step.within = function;
    step.name = "?";
    if (!l.co_localsplusnames.present()) return step;
    const Address names = heap.pointer(code + *l.co_localsplusnames);
    const Address name = heap.pointer(names + *heap.layout().tuple.ob_item + 8 * (place & 0xffffffff));
    step.name = heap.unicode_text(name, 200).value_or("?");
    return step;
}

std::string frame_place_name(const PythonHeap& heap, Address code, std::uint64_t place) {
    return notation(frame_place_step(heap, code, place));
}

}  // namespace heapsift
