#pragma once

// From an address to the object that starts there, for every reference of a heap. One bit for each 16 bytes
// of memory that holds objects, and with each word of bits the number of objects before it: a lookup is one
// cache miss, against twenty in a binary search.
//
// Memory: 16 KiB for each MiB that contains objects, about 1.4 bytes per object. If objects are scattered so
// widely over the address space that it would be far more, there is no index, and the search is binary.

#include "parsers/base/address.h"
#include "parsers/snapshot/found_objects.h"

#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

class ObjectIndex {
public:
    ObjectIndex() = default;
    /// `addresses`: sorted, no duplicates, no two within 16 bytes. They must outlive the index, and may be
    /// moved together with it, since a vector keeps its elements where they are.
    explicit ObjectIndex(std::span<const Address> addresses);

    /// True if it was made from no addresses, or not made at all.
    bool empty() const { return addresses_.empty(); }
    /// The object that starts at `address`, or `no_object`. Constant time, unless there is no index.
    ObjectId find(Address address) const {
        const Word* word = word_of(address);
        if (!word) return pages_.empty() || address.value >> address_bits ? search(address) : no_object;
        const unsigned bit = address.value >> granule_bits & 63;
        if (!(word->bits >> bit & 1)) return no_object;
        const ObjectId id(word->before + count_of(word->bits & ((std::uint64_t{1} << bit) - 1)));
        return address.value % 16 == 0 && !word->unaligned ? id : addresses_[id] == address ? id : no_object;
    }
    /// Prefetches the memory that `find` will read.
    void fetch(Address address) const {
        if (const Word* word = word_of(address)) __builtin_prefetch(word);
    }

private:
    static constexpr unsigned granule_bits = 4, word_bits = granule_bits + 6, chunk_bits = 20, page_bits = 33,
                              address_bits = 47;
    static constexpr std::uint32_t words_a_chunk = 1U << (chunk_bits - word_bits);
    static constexpr std::uint32_t chunks_a_page = 1U << (page_bits - chunk_bits);
    static constexpr std::uint32_t none = 0xffffffff;

    struct Word {
        std::uint64_t bits = 0;
        std::uint32_t before = 0;
        bool unaligned = false;  // one of its objects does not start at a multiple of 16
    };

    /// std::popcount; on processors that may lack the instruction that is a call of a function.
    static std::uint32_t count_of(std::uint64_t bits) {
        bits -= bits >> 1 & 0x5555555555555555;
        bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
        bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
        return static_cast<std::uint32_t>(bits * 0x0101010101010101 >> 56);
    }

    const Word* word_of(Address address) const {
        if (address.value >> address_bits || pages_.empty()) return nullptr;
        const std::uint32_t page = pages_[address.value >> page_bits];
        if (page == none) return nullptr;
        const std::uint32_t chunk = chunks_[page + (address.value >> chunk_bits & (chunks_a_page - 1))];
        if (chunk == none) return nullptr;
        return &words_[chunk + (address.value >> word_bits & (words_a_chunk - 1))];
    }
    ObjectId search(Address address) const;

    std::span<const Address> addresses_;
    std::vector<std::uint32_t> pages_;   // by 8 GiB: where its chunks begin
    std::vector<std::uint32_t> chunks_;  // by MiB of such a page: where its words begin
    std::vector<Word> words_;            // by KiB
};

}  // namespace heapsift
