#pragma once

// Where the interpreter keeps what is not of one object: since 3.7 in one struct, _PyRuntime; in 2.7 and 3.6 in static
// variables of its modules (pystate.c, gcmodule.c, ceval.c). The collector's state is part of each interpreter
// since 3.9; before, all interpreters share one.

#include "parsers/base/address.h"
#include "parsers/cpython/layout.h"

namespace heapsift {

inline bool has_runtime_struct(const LayoutVersion& version) { return since(7).contain(version); }

/// The collector's state that `interpreter` uses.
inline Address collector_state(const Layout& layout, Address runtime, Address interpreter) {
    return layout.interpreter_state.gc.present() ? interpreter + *layout.interpreter_state.gc
                                                 : runtime + *layout.runtime_state.gc;
}

}  // namespace heapsift
