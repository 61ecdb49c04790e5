#pragma once

// Which objects of a process were there before: by address, type and, where it cannot change, content.
//
// Two cores of one process at two times: an object whose address has an object of the same type in both was, very
// likely, there all the time. (The allocator hands an address out again: so the same type alone would be wrong
// where strings come and go. What cannot change is compared as well: a str, int, float, bytes or tuple has the
// same words in its block, but for the count.) It is said as likely.

#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <vector>

namespace heapsift {

/// One for each object, 16 bytes, by address.
struct ObjectMark {
    std::uint64_t address = 0;
    std::uint32_t type = 0;     // a hash of the type's name and address
    std::uint32_t content = 0;  // a hash of what cannot change; 0 for the others
};

/// One pass, 20 to 60 ns an object.
std::vector<ObjectMark> object_marks(const HeapReader& heap, const ProgressCallback& progress = {});

/// The objects of one or two earlier cores of the same process, the oldest first.
struct EarlierObjects {
    std::vector<std::vector<ObjectMark>> cores;
};

/// What each object was before: walks all lists side by side.
class ObjectHistory {
public:
    /// Whether the object was in the earlier core of that number; asked for objects in the order of addresses.
    bool was_in(const EarlierObjects& before, std::size_t core, const ObjectMark& mark) {
        at_.resize(before.cores.size());
        const auto& marks = before.cores[core];
        std::size_t& at = at_[core];
        while (at < marks.size() && marks[at].address < mark.address) ++at;
        return at < marks.size() && marks[at].address == mark.address && marks[at].type == mark.type &&
               marks[at].content == mark.content;
    }

private:
    std::vector<std::size_t> at_;  // by core: the place among its marks
};

/// The mark of one object. `type`: type_mark of its type.
ObjectMark object_mark(const HeapReader& heap, ObjectId object, std::uint32_t type);
std::uint32_t type_mark(const TypeInfo& type);

}  // namespace heapsift
