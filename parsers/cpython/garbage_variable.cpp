#include "parsers/cpython/garbage_variable.h"

#include "parsers/cpython/build/runtime_state.h"

#include <cstdint>

namespace heapsift {

void find_garbage_variable(const CoreFile& core, const PythonHeap& heap, PythonRuntime& python) {
    constexpr std::uint64_t farthest = 1U << 30;
    Layout& layout = python.layout;
    if (has_runtime_struct(layout.version) || layout.gc_state.garbage.present() || python.module < 0) return;
    if (python.interpreters.empty() || !layout.module.md_dict.present()) return;
    const Address gc = heap.dict_value(python.interpreters.front().modules, "gc");
    const Address garbage =
        gc.is_null() ? Address() : heap.dict_value(heap.pointer(gc + *layout.module.md_dict), "garbage");
    if (garbage.is_null()) return;
    const Module& module = core.modules()[static_cast<std::size_t>(python.module)];
    for (const Segment& segment : core.memory().segments()) {
        if (!segment.writable || segment.state != ByteState::in_core || segment.start < module.start ||
            segment.start >= module.image_end)
            continue;
        for (Address at = segment.start; at + 8 <= segment.end(); at = at + 8) {
            if (at < python.runtime || at - python.runtime >= farthest || heap.pointer(at) != garbage)
                continue;
            layout.gc_state.garbage = static_cast<std::uint32_t>(at - python.runtime);
            return;
        }
    }
}

}  // namespace heapsift
