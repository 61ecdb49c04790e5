#pragma once

// What a frame is in a build, and what its numbers mean (frameobject.h, pycore_frame.h, code.h).

#include "parsers/cpython/layout.h"

namespace heapsift {

/// Since 3.11 a frame is a block of a thread's data stack, and an object only if somebody asked for one.
inline bool has_interpreter_frames(const Layout& layout) {
    return layout.interpreter_frame.localsplus.present() && layout.code.co_nlocalsplus.present();
}

/// Up to 3.10: bytes of bytecode per step of f_lasti. It has counted two-byte instructions since 3.10.
inline std::int64_t bytes_a_step(const Layout& layout) { return since(10).contain(layout.version) ? 2 : 1; }

/// Whether f_lineno only counts while the frame is traced. Since 3.10 it is 0 at all other times.
inline bool line_needs_trace(const Layout& layout) { return until(9).contain(layout.version); }

/// 3.14 and later tag the references in frames. (pycore_stackref.h)
constexpr std::uint64_t reference_tags = 3;
constexpr std::uint64_t tagged_uncounted =
    1;                                       // not counted: somebody else keeps the object; null is this bit
constexpr std::uint64_t tagged_integer = 3;  // not a reference

/// Whether a function has returned or raised, by the state that its generator has: since 3.13
/// FRAME_COMPLETED, 1, and FRAME_CLEARED, 4; in 3.15 FRAME_CLEARED, 5. (pycore_frame.h)
inline bool is_finished_state(const Layout& layout, std::int8_t state) {
    return state >= (since(15).contain(layout.version) ? 5 : 1);
}

/// Whether the frame of a generator in this state has lost its data.
inline bool is_cleared_state(const Layout& layout, std::int8_t state) {
    return state >= (since(15).contain(layout.version) ? 5 : 4);
}

/// What the call of a generator, coroutine or asynchronous generator does.
enum class CallState : std::uint8_t { created, suspended, running, finished };

/// By the state that a generator has since 3.11: FRAME_CREATED, FRAME_SUSPENDED, since 3.13
/// FRAME_SUSPENDED_YIELD_FROM, FRAME_EXECUTING. 3.15 counts them from 0. (pycore_frame.h, _framestate)
inline CallState call_state(const Layout& layout, std::int8_t state) {
    if (is_finished_state(layout, state)) return CallState::finished;
    const int created = since(15).contain(layout.version)   ? 0
                        : since(13).contain(layout.version) ? -3
                                                            : -2,
              running = since(15).contain(layout.version) ? 4 : 0;
    if (state >= running) return CallState::running;
    return state <= created ? CallState::created : CallState::suspended;
}

/// How a suspended call shows that it stands in `await` or `yield from`: what it waits for is then on top of its
/// value stack. (_PyGen_yf in genobject.c)
enum class AwaitMark {
    next_opcode,      // up to 3.10: the next instruction is YIELD_FROM, which runs again
    resume_argument,  // 3.11, 3.12: the next one is RESUME, whose argument says after what
    state             // since 3.13: FRAME_SUSPENDED_YIELD_FROM
};
inline AwaitMark await_mark(const Layout& layout) {
    if (since(13).contain(layout.version)) return AwaitMark::state;
    return since(11).contain(layout.version) ? AwaitMark::resume_argument : AwaitMark::next_opcode;
}
inline bool is_await_state(const Layout& layout, std::int8_t state) {
    return since(15).contain(layout.version) ? state == 2 || state == 3 : state == -1;
}
constexpr std::uint8_t yield_from_opcode = 72, resume_after_yield_from = 2;  // 3: after await

/// How co_linetable maps bytecode to lines.
enum class LineTable {
    increments,  // up to 3.9: co_lnotab, pairs of increments
    ranges,      // 3.10: the same with an end to each (PEP 626)
    locations,   // 3.11: columns too (PEP 657)
};

inline LineTable line_table(const Layout& layout) {
    if (since(11).contain(layout.version)) return LineTable::locations;
    return since(10).contain(layout.version) ? LineTable::ranges : LineTable::increments;
}

}  // namespace heapsift
