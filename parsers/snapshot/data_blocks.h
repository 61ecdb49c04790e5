#pragma once

// Blocks that hold the numbers or characters of an object: nothing that begins there is an object, whatever it
// reads as.
//
// Such a block keeps what was in it before up to where its owner has written, and owners ask for more than they
// write at once (array.array, bytearray, the marks of an Unpickler): a small number in the first word, and the
// type of a freed object behind it. A short unicode of 2.7 writes one word, u'"' the number 34.

#include "parsers/snapshot/object_access.h"

#include <vector>

namespace heapsift {

class DataBlocks {
public:
    /// Looks at each type once.
    explicit DataBlocks(const ObjectAccess& access);

    bool empty() const { return starts_.empty(); }
    bool may_have(TypeId type) const { return types_[type]; }
    /// The blocks of an object of a type that may have some, if `may_begin(start)`. A block that does not have
    /// the size that the object says is not added: one of the two is damaged.
    template <class F>
    void add(Address object, TypeId type, F&& may_begin) {
        for (const auto& [start, bytes] : data_of(object, type))
            if (may_begin(start) && fits(start, bytes)) starts_.push_back(start);
    }
    /// Before any question; nothing is added afterwards.
    void sort();
    bool contains(Address start) const;
    const std::vector<Address>& starts() const { return starts_; }

private:
    struct Data {
        Address start;
        std::uint64_t bytes;
    };
    const std::vector<Data>& data_of(Address object, TypeId type);
    bool fits(Address start, std::uint64_t bytes) const;

    const ObjectAccess& access_;
    std::vector<bool> types_;
    std::vector<Data> data_;  // of the last object
    std::vector<Address> starts_;
};

}  // namespace heapsift
