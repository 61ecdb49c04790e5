#pragma once

// Two forms of the collector's header up to 3.7. It is a union, as wide as three words; releases from 3.7.4 on, and
// 3.6 with the patches of some builds, align it to 16 bytes (long double), and so does pymalloc. Before (objimpl.h:
// double), both have 8: the header is 24 bytes, and what contains headers is shorter. The core tells which it is.
// (2.7 has 32 bytes on every machine with a long double of 16.)

#include "parsers/cpython/layout.h"

namespace heapsift {

inline bool may_have_short_headers(const LayoutVersion& version) { return within(0, 7).contain(version); }

/// Turns the layout of a build with headers of 32 bytes into that of one with 24.
inline void shorten_headers(Layout& layout) {
    constexpr std::uint32_t longer = 8, lists = 4;
    constexpr std::uint32_t padding = 8;  // before the first list, and at each list's end
    const auto reduce = [](LayoutOffset& field, std::uint32_t bytes) {
        if (field.present() && *field >= bytes) field = *field - bytes;
    };
    reduce(layout.gc_head.size, longer);
    for (LayoutOffset* field : {&layout.gc_generation.threshold, &layout.gc_generation.count})
        reduce(*field, longer);
    reduce(layout.gc_generation.size, longer + padding);
    gc_state_layout& state = layout.gc_state;
    if (!state.size.present()) return;
    reduce(state.generations, padding);
    reduce(state.generation0, padding + 3 * (longer + padding));
    reduce(state.permanent_generation, padding + 3 * (longer + padding) + 8);
    // What follows: the padding, four lists, and that of the pointer between them.
    const std::uint32_t all = padding + lists * (longer + padding) + 8;
    for (LayoutOffset* field : {&state.collecting, &state.garbage, &state.callbacks, &state.long_lived_total,
                                &state.long_lived_pending, &state.size, &layout.runtime_state.tstate_current,
                                &layout.runtime_state.size})
        reduce(*field, all);
}

}  // namespace heapsift
