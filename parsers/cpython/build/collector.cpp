#include "parsers/cpython/build/collector.h"

#include "parsers/cpython/build/object_header.h"

namespace heapsift {

std::vector<CollectorList> collector_lists(const PythonRuntime& python) {
    const Layout& l = python.layout;
    std::vector<CollectorList> lists;
    if (has_collector_bits(l)) return lists;
    if (!l.gc_head.size.present() || !l.gc_head.next.present() || !l.gc_head.prev.present() ||
        !l.gc_state.generations.present() || !l.gc_generation.size.present())
        return lists;
    for (const PythonInterpreter& interpreter : python.interpreters) {
        if (&interpreter != &python.interpreters.front() && interpreter.gc == python.interpreters.front().gc)
            continue;
        for (std::int8_t generation = 0; generation < frozen_generation; ++generation)
            lists.push_back({interpreter.gc + *l.gc_state.generations +
                                 static_cast<std::uint64_t>(generation) * *l.gc_generation.size,
                             generation, interpreter.collecting});
        if (l.gc_state.permanent_generation.present())
            lists.push_back({interpreter.gc + *l.gc_state.permanent_generation, frozen_generation,
                             interpreter.collecting});
    }
    return lists;
}

}  // namespace heapsift
