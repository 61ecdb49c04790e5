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
constexpr std::uint64_t tagged_uncounted = 1;  // not counted: somebody else keeps the object; null is this bit
constexpr std::uint64_t tagged_integer = 3;    // not a reference

/// Whether a function has returned or raised, by the state that its generator has: since 3.13
/// FRAME_COMPLETED, 1, and FRAME_CLEARED, 4; in 3.15 FRAME_CLEARED, 5. (pycore_frame.h)
inline bool is_finished_state(const Layout& layout, std::int8_t state) {
    return state >= (since(15).contain(layout.version) ? 5 : 1);
}

/// Whether the frame of a generator in this state has lost its data.
inline bool is_cleared_state(const Layout& layout, std::int8_t state) {
    return state >= (since(15).contain(layout.version) ? 5 : 4);
}

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
