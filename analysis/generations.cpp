// The generation of an object is written nowhere in it: it is in the list it is in, so each list of the collector is walked once.

#include "analysis/generations.h"

namespace heapsift {

std::vector<std::int8_t> generations(const HeapSnapshot& heap) {
    std::vector<std::int8_t> result(heap.object_count(), no_generation);
    for (const CollectorList& list : collector_lists(heap.python()))
        walk_collector_list(heap.core().memory(), heap.python().layout.gc_head, list, heap.object_count(), [&](Address object) {
            if (const ObjectId id = heap.find(object); id != no_object) result[id] = list.generation;
        });
    return result;
}

}  // namespace heapsift
