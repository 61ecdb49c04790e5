#pragma once

// Which objects are in the collector's lists, told from the objects' headers. (How, and why the lists are not
// walked: collector_links.cpp.)

#include "parsers/cpython/build/collector.h"
#include "parsers/elf/core_file.h"
#include "parsers/snapshot/object_access.h"

#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

namespace heapsift {

/// One bit for each 16 bytes of saved memory. Pages of bits that are never set take no memory.
class AddressBits {
public:
    explicit AddressBits(const AddressSpace& memory) : memory_(memory), bits_(memory.segments().size()) {}
    void set(Address address) {
        if (std::uint64_t* word = word_of(address, true)) *word |= mask(address);
    }
    bool test(Address address) const {
        const std::uint64_t* word = const_cast<AddressBits*>(this)->word_of(address, false);
        return word && (*word & mask(address));
    }

private:
    struct Free {
        void operator()(std::uint64_t* p) const { std::free(p); }
    };
    static std::uint64_t mask(Address a) { return std::uint64_t{1} << (a.value / 16 % 64); }
    std::uint64_t* word_of(Address address, bool create);

    const AddressSpace& memory_;
    std::vector<std::unique_ptr<std::uint64_t[], Free>> bits_;
};

class CollectorLinks {
public:
    CollectorLinks(const CoreFile& core, const ObjectAccess& access);

    /// True if `object`, whose type has a collector header, is in a list of the collector. Ask about each
    /// linked object exactly once, and give all that was added to `links` to `add_linked`, or closed() is
    /// false. `likely`: everything else suggests an object, so its header alone may decide (until
    /// ask_neighbours()).
    bool linked(Address object, bool likely, std::uint64_t& links) const {
        if (lists_.empty()) return false;
        if (method_ == Method::walk) return is_linked(object);
        const Address head = object - header_size_;
        const Address next(heap_.integer<std::uint64_t>(head + next_offset_) & collector_link_bits);
        // A ring of one node is the head of an empty list.
        if (next.is_null() || next == head || is_untracked(head)) return false;
        if ((method_ == Method::neighbours || !likely) && previous_of(next) != head) return false;
        links += edge(head, next) - edge(previous_of(head), head);
        return true;
    }
    void add_linked(std::uint64_t links) { balance_ += links; }
    /// The same, but may be asked any number of times.
    bool is_linked(Address object) const {
        if (lists_.empty()) return false;
        if (method_ == Method::walk) return met_.test(object) || has_neighbours(object);
        const Address head = object - header_size_;
        const Address next = next_of(head);
        return !next.is_null() && next != head && !is_untracked(head) && previous_of(next) == head;
    }
    /// True if the objects found linked make up the collector's lists exactly.
    bool closed() const;
    /// From now on, linked() also asks whether the object's successor points back; ask about all objects
    /// again. Returns false if that was so already, or would not help because the collector was at work.
    bool ask_neighbours();

    /// Walks the lists instead, from head to head. A list that breaks off is also walked from its other end,
    /// so that a torn link costs one object and not a generation. Calls `visit` once with each object met;
    /// from now on linked() tells what the walk met. Cost: a cache miss per object in an old heap.
    struct Walked {
        std::uint64_t broken_lists = 0;
        std::uint64_t unknown = 0;  // objects without a readable type
    };
    Walked walk(const std::function<void(Address, TypeId)>& visit);
    bool collecting() const { return collecting_; }

private:
    enum class Method { headers, neighbours, walk };
    /// True if the nodes before and after `object` point at it. If the collector was at work, the object's
    /// node and the next one may hold counts instead of links back.
    bool has_neighbours(Address object) const;
    /// Whether its links mean nothing, whatever they are (up to 3.7).
    bool is_untracked(Address node) const {
        return has_refs_ && !header_is_tracked(heap_.layout(), [&](std::uint32_t at) {
                   return heap_.integer<std::uint64_t>(node + at);
               });
    }
    static std::uint64_t mixed(std::uint64_t a) {
        a = (a ^ (a >> 30)) * 0xbf58476d1ce4e5b9ULL;  // splitmix64
        a = (a ^ (a >> 27)) * 0x94d049bb133111ebULL;
        return a ^ (a >> 31);
    }
    static std::uint64_t edge(Address from, Address to) {
        return mixed(from.value * 0x9e3779b97f4a7c15ULL + to.value);
    }
    Address next_of(Address node) const {
        return Address(heap_.pointer(node + next_offset_).value & collector_link_bits);
    }
    Address previous_of(Address node) const {
        return Address(heap_.pointer(node + prev_offset_).value & collector_link_bits);
    }

    const PythonHeap& heap_;
    std::uint64_t most_;
    std::uint32_t header_size_, next_offset_, prev_offset_;
    std::vector<CollectorList> lists_;
    bool collecting_ = false, has_refs_ = false;
    std::uint64_t balance_ = 0;
    Method method_ = Method::headers;
    AddressBits met_;
};

}  // namespace heapsift
