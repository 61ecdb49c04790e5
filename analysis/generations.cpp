// An object does not store its generation: the list it is in is its generation, so each list of the collector
// is walked once. Free-threaded builds have no lists, and one generation (gc_free_threading.c): the youngest, whose
// threshold starts a collection. What is frozen has a bit.

#include "analysis/generations.h"

#include "parsers/cpython/build/object_header.h"

namespace heapsift {

std::vector<std::int8_t> generations(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    std::vector<std::int8_t> result(columns.object_count(), no_generation);
    if (const Layout& layout = columns.python.layout; has_collector_bits(layout)) {
        for (ObjectId id{0}; id < columns.object_count(); ++id) {
            const Address bits = columns.address_of(id) + *layout.object.ob_gc_bits;
            const std::uint8_t set = heap.core().memory().read<std::uint8_t>(bits).value_or(0);
            if (columns.type_info(id).has_gc && (set & gc_bit_tracked) != 0)
                result[id] = (set & gc_bit_frozen) != 0 ? frozen_generation : std::int8_t{0};
        }
        return result;
    }
    for (const CollectorList& list : collector_lists(columns.python))
        walk_collector_list(heap.core().memory(), columns.python.layout.gc_head, list, columns.object_count(),
                            [&](Address object) {
                                if (const ObjectId id = columns.find(object); id != no_object)
                                    result[id] = list.generation;
                            });
    return result;
}

std::vector<std::uint16_t> interpreters_by_list(const HeapReader& heap) {
    const HeapSnapshot& columns = heap.snapshot();
    std::vector<std::uint16_t> result;
    const std::vector<PythonInterpreter>& all = columns.python.interpreters;
    if (all.size() < 2) return result;
    result.assign(columns.object_count(), no_interpreter);
    PythonRuntime one = columns.python;
    for (std::size_t i = 0; i < all.size() && i < no_interpreter; ++i) {
        one.interpreters = {all[i]};
        for (const CollectorList& list : collector_lists(one))
            walk_collector_list(heap.core().memory(), one.layout.gc_head, list, columns.object_count(),
                                [&](Address object) {
                                    if (const ObjectId id = columns.find(object); id != no_object)
                                        result[id] = static_cast<std::uint16_t>(i);
                                });
    }
    return result;
}

}  // namespace heapsift
