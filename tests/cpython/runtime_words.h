#pragma once

// The runtime of a CPython 3.13 as a core of a stripped build shows it: the cookie, the version and the
// offsets that it carries, one interpreter, one thread. The offsets' places are from pycore_debug_offsets.h
// of 3.13, not from the table by which heapsift reads them.

#include "tests/cpython/python_heap_builder.h"

#include <utility>

namespace heapsift::test {

/// `runtime`: 8192 bytes of memory. The collector's and the modules' words are left to the caller.
inline void put_runtime(PythonHeapBuilder& heap, Address runtime, Address interpreter, Address thread) {
    const Layout& l = heap.layout();
    const char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
    heap.put(runtime, cookie);
    heap.put(runtime + 8, std::uint64_t{0x030d01f0});  // 3.13.1
    constexpr std::uint64_t behind_the_offsets = 4096;
    const std::pair<std::uint64_t, LayoutOffset> offsets[] = {{40, behind_the_offsets},  // interpreters_head
                                                              {56, l.interpreter_state.id},
                                                              {64, l.interpreter_state.next},
                                                              {72, l.interpreter_state.threads_head},
                                                              {80, l.interpreter_state.gc},
                                                              {88, l.interpreter_state.modules},
                                                              {96, l.interpreter_state.sysdict},
                                                              {104, l.interpreter_state.builtins},
                                                              {160, l.thread_state.prev},
                                                              {168, l.thread_state.next},
                                                              {176, l.thread_state.interp},
                                                              {184, l.thread_state.current_frame},
                                                              {192, l.thread_state.thread_id},
                                                              {200, l.thread_state.native_thread_id},
                                                              {208, l.thread_state.datastack_chunk},
                                                              {360, l.object.ob_type},
                                                              {376, l.type.tp_name},
                                                              {392, l.type.tp_flags},
                                                              {456, l.dict.ma_keys},
                                                              {464, l.dict.ma_values}};
    for (const auto& [at, offset] : offsets) heap.put(runtime + at, std::uint64_t{*offset});
    heap.put(runtime + behind_the_offsets, interpreter);
    heap.set(interpreter, l.interpreter_state.threads_head, thread);
    heap.set(thread, l.thread_state.interp, interpreter);
}

}  // namespace heapsift::test
