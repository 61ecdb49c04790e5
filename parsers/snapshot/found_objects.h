#pragma once

// All objects by number, and for each its address, its type and the proof by which it was found.

#include "parsers/base/address.h"
#include "parsers/base/ascending_column.h"
#include "parsers/base/compact_column.h"
#include "parsers/base/ids.h"
#include "parsers/base/stored.h"
#include "parsers/cpython/types.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace heapsift {

struct ObjectOfHeap;
using ObjectId = Id<ObjectOfHeap>;  // ids follow addresses
inline constexpr ObjectId no_object;
/// The million numbers that are left are for the other nodes of a graph.
inline constexpr std::uint64_t most_objects = (std::uint64_t{1} << 32) - (std::uint64_t{1} << 20);

/// How an object was found: the first of these that applies. Each is a proof besides the header, which other
/// data may resemble.
enum class FoundBy : std::uint8_t {
    collector,    // linked in a list of the collector
    pymalloc,     // an allocated block of a pymalloc pool, in no free list, of the size its type asks for
    malloc,       // the start of a block that malloc handed out and that was not freed
    static_data,  // in a module's writable data, referred to by a found object or proved by its own contents
    reference     // none of these, but a found object refers to it
};

/// By object; 4 bytes each.
using AddressView = AscendingView<std::uint32_t, Address>;
using AddressColumn = AscendingColumn<std::uint32_t, Address>;
using AddressBuilder = AscendingBuilder<std::uint32_t, Address>;

/// A type for each object, in two bytes: few programs have 65,535 types, and there the others are in a list.
class TypeColumn {
public:
    using Builder = CompactColumn<std::uint16_t>::Builder;

    TypeColumn() = default;
    TypeColumn(const std::vector<TypeId>& types) {
        Builder builder;
        builder.reserve(types.size());
        for (const TypeId type : types) builder.push_back(type);
        types_ = builder.finish();
    }
    explicit TypeColumn(Builder&& filled) : types_(filled.finish()) {}

    std::size_t size() const { return types_.size(); }
    TypeId operator[](std::size_t object) const { return TypeId(types_[object]); }
    /// Prefetches what operator[] will read.
    void fetch(std::size_t object) const { types_.fetch(object); }
    std::uint64_t memory_bytes() const { return types_.memory_bytes(); }

    /// As a part of an index (parsers/index/part.h), of so many objects and types.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t objects, std::size_t types) {
        CompactColumn<std::uint16_t>::fields(self.types_, part, objects, types == 0 ? 0 : types - 1);
        part.require(objects == 0 || types > 0, "objects have no type");
    }

private:
    CompactColumn<std::uint16_t> types_;
};

/// How each object was found, in half a byte.
class FoundByColumn {
public:
    FoundByColumn() = default;
    FoundByColumn(const std::vector<FoundBy>& found_by) : size_(found_by.size()) {
        std::vector<std::uint8_t> pairs((size_ + 1) / 2);
        for (std::size_t object = 0; object < size_; ++object)
            pairs[object / 2] |=
                static_cast<std::uint8_t>(static_cast<unsigned>(found_by[object]) << (object % 2 * half));
        pairs_ = std::move(pairs);
    }

    std::size_t size() const { return size_; }
    FoundBy operator[](std::size_t object) const {
        return static_cast<FoundBy>(pairs_[object / 2] >> (object % 2 * half) & lower);
    }

    /// As a part of an index (parsers/index/part.h), of so many objects.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, std::size_t objects) {
        constexpr auto last = static_cast<unsigned>(FoundBy::reference);
        part.column(self.pairs_,
                    [](std::uint8_t pair) { return (pair & lower) <= last && pair >> half <= last; });
        part.require(self.pairs_.size() == (objects + 1) / 2, "not every object was found in some way");
        if constexpr (Part::reading) self.size_ = objects;
    }

private:
    static constexpr unsigned half = 4, lower = 15;
    std::size_t size_ = 0;
    Stored<std::uint8_t> pairs_;  // the first of two objects in the lower half
};

/// Columns sorted by address, no duplicates.
struct FoundObjects {
    AddressColumn addresses;
    TypeColumn types;
    FoundByColumn found_by;

    /// The object that starts at `address`, or `no_object`. A binary search.
    ObjectId find(Address address) const {
        const auto it = std::lower_bound(addresses.begin(), addresses.end(), address);
        return it != addresses.end() && *it == address ? static_cast<ObjectId>(it - addresses.begin())
                                                       : no_object;
    }
};

}  // namespace heapsift
