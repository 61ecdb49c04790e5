#include "parsers/snapshot/collector_links.h"
#include "parsers/cpython/build/refcount.h"

// Finds out which objects are in the collector's lists without following the lists.
//
// A list leads through the heap in the order in which objects were made or survived. In a process that ran
// for long, each step is a cache miss that the next step must wait for (70 ns measured, against 10 in a young
// heap). A walk proves that each node's successor points back at it, and that all nodes are objects. The same
// can be told in address order, from each header by itself: write down the pair (node, next) and the pair
// (prev, node). If the lists are whole, each pair is written down twice, once from either side, so the sum of
// f(node, next) - f(prev, node) over all nodes and heads is 0 for any f. If f mixes well, a torn list gives 0
// by chance once in 2^64. The sum costs no cache miss.
//
// A sum other than 0 tells that something is wrong, not what: a block that only reads as an object, a torn
// list, or an object of a type that was not found. Then each object's successor is asked whether it points
// back, which keeps look-alikes out; if the sum still is not 0, the lists are walked. They are walked at once
// if the process was stopped inside the collector, whose links back are then counts. An object that no walk
// meets (the collector's ring of unreachable objects has its head on a stack; a list may break off) counts as
// linked if its neighbours point at it.
//
// Source: gcmodule.c, pycore_gc.h of 3.6 to 3.13; build/collector.h says what is in a header.

#include <cstdlib>
#include <new>

namespace heapsift {

std::uint64_t* AddressBits::word_of(Address address, bool create) {
    const Segment* segment = memory_.find(address);
    if (!segment || segment->state != ByteState::in_core) return nullptr;
    auto& bits = bits_[static_cast<std::size_t>(segment - memory_.segments().data())];
    const std::uint64_t first = segment->start.value / 16 / 64;
    if (!bits) {
        if (!create) return nullptr;
        const std::uint64_t words = segment->end().value / 16 / 64 - first + 1;
        bits.reset(static_cast<std::uint64_t*>(std::calloc(words, 8)));
        if (!bits) throw std::bad_alloc();
    }
    return bits.get() + (address.value / 16 / 64 - first);
}

CollectorLinks::CollectorLinks(const CoreFile& core, const ObjectAccess& access)
    : heap_(access.heap()), most_(core.extent().in_core_bytes / 32), met_(core.memory()) {
    const Layout& l = heap_.layout();
    header_size_ = *l.gc_head.size;
    next_offset_ = *l.gc_head.next;
    prev_offset_ = *l.gc_head.prev;
    has_refs_ = l.gc_head.refs.present();
    lists_ = collector_lists(heap_.runtime());
    for (const CollectorList& list : lists_) collecting_ = collecting_ || list.collecting;
}

bool CollectorLinks::closed() const {
    if (method_ == Method::walk) return true;
    std::uint64_t balance = balance_;
    for (const CollectorList& list : lists_) {
        const Address head = list.head;
        if (previous_of(next_of(head)) != head) return false;
        balance += edge(head, next_of(head)) - edge(previous_of(head), head);
    }
    return balance == 0;
}

bool CollectorLinks::has_neighbours(Address object) const {
    const Address head = object - header_size_;
    const Address next = next_of(head);
    const auto refcount = static_cast<std::int64_t>(count_of(heap_, object));
    if (next.is_null() || next == head || refcount <= 0 || refcount > 0xffffffff || is_untracked(head))
        return false;
    const auto counts = [&](Address node) {
        return collecting_ && holds_collector_count(heap_.memory(), heap_.layout().gc_head, node);
    };
    return (next_of(previous_of(head)) == head || counts(head)) &&
           (previous_of(next) == head || counts(next));
}

bool CollectorLinks::ask_neighbours() {
    if (method_ != Method::headers || collecting_) return false;
    method_ = Method::neighbours;
    balance_ = 0;
    return true;
}

CollectorLinks::Walked CollectorLinks::walk(const std::function<void(Address, TypeId)>& visit) {
    method_ = Method::walk;
    Walked walked;
    for (const CollectorList& list : lists_) {
        const bool whole =
            walk_collector_list(heap_.memory(), heap_.layout().gc_head, list, most_, [&](Address object) {
                const TypeId type = heap_.type_of(object);
                if (type == no_type)
                    ++walked.unknown;
                else if (!met_.test(object)) {
                    visit(object, type);
                    met_.set(object);
                }
            });
        if (!whole) ++walked.broken_lists;
    }
    return walked;
}

}  // namespace heapsift
