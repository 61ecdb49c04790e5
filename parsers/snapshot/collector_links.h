#pragma once

// Which objects the collector has in its lists, told from the objects' side. (How, and why the lists are not
// walked: collector_links.cpp.)

#include "parsers/cpython/build/collector.h"
#include "parsers/elf/core_file.h"
#include "parsers/snapshot/object_access.h"

#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

namespace heapsift {

/// A bit per 16 bytes of saved memory. Pages of bits that are never set cost no memory.
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

    /// Is `object` in a list of the collector? Each object that is linked is to be asked about once, or
    /// closed() is false. `likely`: all else speaks for an object, and its header alone may decide (until
    /// ask_neighbours()). Its type has a header.
    bool linked(Address object, bool likely) {
        if (method_ == Method::walk) return is_linked(object);
        const Address head = object - header_size_;
        const Address next(heap_.integer<std::uint64_t>(head + next_offset_) & collector_link_bits);
        // A ring of one is the head of an empty list.
        if (next.is_null() || next == head) return false;
        if ((method_ == Method::neighbours || !likely) && previous_of(next) != head) return false;
        balance_ += edge(head, next) - edge(previous_of(head), head);
        return true;
    }
    /// The same, any number of times.
    bool is_linked(Address object) const {
        if (method_ == Method::walk) return met_.test(object) || has_neighbours(object);
        const Address head = object - header_size_;
        const Address next = next_of(head);
        return !next.is_null() && next != head && previous_of(next) == head;
    }
    /// Do the objects that were linked make up the collector's lists, no more and no fewer?
    bool closed() const;
    /// From now on each object's successor is asked. All objects are to be asked about again. False where
    /// this was so already, or would not help: the collector was at work.
    bool ask_neighbours();

    /// Walks the lists instead, from head to head, and where one breaks off also from its other end, so that
    /// one torn link costs one object and not a generation; from now on `linked` says what the walk met.
    /// Calls `visit` with each object on the way, once. Cost: a cache miss an object where the heap is old.
    struct Walked {
        std::uint64_t broken_lists = 0;
        std::uint64_t unknown = 0;  // objects whose type is none
    };
    Walked walk(const std::function<void(Address, TypeId)>& visit);
    bool collecting() const { return collecting_; }

private:
    enum class Method { headers, neighbours, walk };
    /// Do the nodes before and behind `object` lead to it? Where the collector was at work, its node and the
    /// one behind may hold counts.
    bool has_neighbours(Address object) const;
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
    bool collecting_ = false;
    std::uint64_t balance_ = 0;
    Method method_ = Method::headers;
    AddressBits met_;
};

}  // namespace heapsift
