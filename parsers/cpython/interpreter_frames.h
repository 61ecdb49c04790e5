#pragma once

// Interpreter frames (pycore_frame.h, 3.11 and later). They are not objects, but blocks of a thread's data
// stack, of a generator or of a frame object: a header, local variables, a value stack.

#include "parsers/cpython/build/frames.h"
#include "parsers/cpython/python_heap.h"

#include <algorithm>
#include <unordered_set>

namespace heapsift {

/// The object that a word of a frame refers to; null if it is none.
inline Address untagged(Address word) {
    if ((word.value & reference_tags) == tagged_integer) return {};
    return Address(word.value & ~reference_tags);
}

inline Address interpreter_frame_code(const PythonHeap& heap, Address frame) {
    return untagged(heap.pointer(frame + *heap.layout().interpreter_frame.f_executable));
}

/// The frame that a thread is in; null if it runs no Python.
inline Address current_interpreter_frame(const PythonHeap& heap, Address thread) {
    const Layout& l = heap.layout();
    if (l.thread_state.current_frame.present()) return heap.pointer(thread + *l.thread_state.current_frame);
    if (!l.thread_state.cframe.present() || !l.cframe.current_frame.present()) return {};
    return heap.pointer(heap.pointer(thread + *l.thread_state.cframe) + *l.cframe.current_frame);
}

/// Calls the function with each frame of a chain, including those of C code (entry frames). `seen` ends a
/// chain that was already visited.
template <class F>
void visit_frame_chain(const PythonHeap& heap, Address frame, LayoutOffset back,
                       std::unordered_set<std::uint64_t>& seen, F&& visit) {
    constexpr std::size_t most_frames = 1 << 22;  // of all threads
    while (!frame.is_null() && back.present() && seen.size() < most_frames &&
           seen.insert(frame.value).second) {
        visit(frame);
        frame = heap.pointer(frame + *back);
    }
}

/// The slots of localsplus and of the value stack after it.
struct FramePlaces {
    std::int32_t locals = 0;  // local variables, cells, free variables
    // slots in use; all of them if the function runs, as only a register knows how many are
    std::int32_t used = 0;
    bool running = false;  // how much of the value stack is in use is unknown
};

/// All 0 if the counts are absurd.
inline FramePlaces interpreter_frame_places(const PythonHeap& heap, Address frame, Address code) {
    constexpr std::int32_t most_slots = 1 << 20;
    const auto& l = heap.layout();
    const auto locals = heap.integer<std::int32_t>(code + *l.code.co_nlocalsplus);
    const auto stack = heap.integer<std::int32_t>(code + *l.code.co_stacksize);
    if (locals < 0 || locals > most_slots || stack < 0 || stack > most_slots) return {};
    FramePlaces places{locals, locals + stack, true};
    if (l.interpreter_frame.stackpointer.present()) {  // since 3.14; null while it runs
        const Address top = heap.pointer(frame + *l.interpreter_frame.stackpointer);
        const Address first = frame + *l.interpreter_frame.localsplus;
        if (top < first || !top.aligned(8)) return places;
        const auto used = static_cast<std::int32_t>(
            std::min<std::uint64_t>((top - first) / 8, static_cast<std::uint64_t>(places.used)));
        return {locals, used, false};
    }
    if (!l.interpreter_frame.stacktop.present()) return places;
    const auto top = heap.integer<std::int32_t>(frame + *l.interpreter_frame.stacktop);
    if (top < 0) return places;
    return {locals, std::min(places.used, top), false};
}

}  // namespace heapsift
