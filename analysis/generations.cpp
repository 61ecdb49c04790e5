// The generation of an object is written nowhere in it: it is in the list it is in. Each list of the collector (gc.c: a doubly
// linked ring through the headers before the objects, its head in the interpreter's state) is walked once, forwards while both
// links agree; where they do not, the list is damaged, and is walked from its other end as well, so that one bad header costs
// only itself. The low bits of both links are flags of the collector.

#include "analysis/generations.h"

#include <array>

namespace heapsift {
namespace {

class Walker {
public:
    Walker(const HeapSnapshot& heap, std::vector<std::int8_t>& result)
        : heap_(heap), memory_(heap.core().memory()), layout_(heap.python().layout.gc_head), result_(result) {}

    void walk(Address head, std::int8_t generation) {
        if (!one_way(head, *layout_.next, *layout_.prev, generation)) one_way(head, *layout_.prev, *layout_.next, generation);
    }

private:
    Address link(Address at) const { return Address(memory_.read_address(at).value_or(Address()).value & ~std::uint64_t{3}); }

    /// True where the ring closes.
    bool one_way(Address head, std::uint64_t forwards, std::uint64_t backwards, std::int8_t generation) {
        Address previous = head;
        Address node = link(head + forwards);
        for (std::size_t steps = 0; node != head; ++steps) {
            if (node.is_null() || steps > heap_.object_count() || link(node + backwards) != previous) return false;
            const ObjectId object = heap_.find(node + *layout_.size);
            if (object != no_object) result_[object] = generation;
            previous = node;
            node = link(node + forwards);
        }
        return true;
    }

    const HeapSnapshot& heap_;
    const AddressSpace& memory_;
    const gc_head_layout& layout_;
    std::vector<std::int8_t>& result_;
};

}  // namespace

std::vector<std::int8_t> generations(const HeapSnapshot& heap) {
    std::vector<std::int8_t> result(heap.object_count(), no_generation);
    const Layout& layout = heap.python().layout;
    const auto& head = layout.gc_head;
    if (!head.size.present() || !head.next.present() || !head.prev.present() || !layout.gc_state.generations.present() ||
        !layout.gc_generation.size.present())
        return result;
    Walker walker(heap, result);
    for (const PythonInterpreter& interpreter : heap.python().interpreters) {
        for (std::int8_t generation = 0; generation < frozen_generation; ++generation)
            walker.walk(interpreter.gc + *layout.gc_state.generations +
                            static_cast<std::uint64_t>(generation) * *layout.gc_generation.size,
                        generation);
        if (layout.gc_state.permanent_generation.present())
            walker.walk(interpreter.gc + *layout.gc_state.permanent_generation, frozen_generation);
    }
    return result;
}

}  // namespace heapsift
