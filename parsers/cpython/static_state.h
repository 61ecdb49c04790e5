#pragma once

// CPython 2.7 and 3.6 have no _PyRuntime. What later versions keep in it are static variables of the interpreter's module:
// the list of interpreters, the thread that has the GIL, the collector's generations and settings. A Layout
// describes them as if they lay in one struct, which begins at the lowest of them.

#include "parsers/cpython/layout.h"
#include "parsers/elf/core_file.h"

#include <functional>
#include <optional>

namespace heapsift {

struct StaticState {
    Address start;
    runtime_state_layout runtime;  // from `start`, as are the next
    gc_state_layout collector;

    /// Puts the places into the layout of a version that has no struct for them.
    void put_into(Layout& layout) const;
};

/// The variables of `module`, by their symbols. Those that nothing exports are found by their content where the
/// module has no static symbols: a word that leads to an interpreter (`is_interpreter`), and one that leads to three
/// lists that close; the collector's settings are then unknown. Nothing without a list of interpreters.
std::optional<StaticState> find_static_state(const CoreFile& core, const Module& module, const Layout& layout,
                                             const std::function<bool(Address)>& is_interpreter);

}  // namespace heapsift
