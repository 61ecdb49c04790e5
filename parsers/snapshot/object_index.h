#pragma once

// From an address to the object that starts there, for every reference of a heap. One bit for each 16 bytes
// of memory that holds objects, and with each word of bits the number of objects before it: a lookup is one
// cache miss, against twenty in a binary search.
//
// Memory: 16 KiB for each MiB that contains objects, about 1.4 bytes per object. If objects are scattered so
// widely over the address space that it would be far more, there is no index, and the search is binary.

#include "parsers/base/address.h"
#include "parsers/base/stored.h"
#include "parsers/snapshot/found_objects.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace heapsift {

class ObjectIndex {
public:
    ObjectIndex() = default;
    /// `addresses`: sorted, no duplicates, no two within 16 bytes. They must outlive the index, and may be
    /// moved together with it, since a column keeps its elements where they are.
    explicit ObjectIndex(AddressView addresses);

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

    /// As a part of an index (parsers/index/part.h), for these addresses, which must outlive it.
    template <class Self, class Part>
    static void fields(Self& self, Part& part, AddressView addresses);

private:
    static constexpr unsigned granule_bits = 4, word_bits = granule_bits + 6, chunk_bits = 20, page_bits = 33,
                              address_bits = 47;
    static constexpr std::uint32_t words_a_chunk = 1U << (chunk_bits - word_bits);
    static constexpr std::uint32_t chunks_a_page = 1U << (page_bits - chunk_bits);
    static constexpr std::size_t pages = std::size_t{1} << (address_bits - page_bits);
    static constexpr std::uint32_t none = 0xffffffff;

    struct Word {
        std::uint64_t bits = 0;
        std::uint32_t before = 0;
        std::uint32_t unaligned = 0;  // not 0: one of its objects does not start at a multiple of 16
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
        const std::uint32_t chunk = chunks_[page + chunk_in_page(address)];
        if (chunk == none) return nullptr;
        return &words_[chunk + word_in_chunk(address)];
    }
    static std::uint32_t chunk_in_page(Address address) {
        return static_cast<std::uint32_t>(address.value >> chunk_bits & (chunks_a_page - 1));
    }
    static std::uint32_t word_in_chunk(Address address) {
        return static_cast<std::uint32_t>(address.value >> word_bits & (words_a_chunk - 1));
    }
    ObjectId search(Address address) const;
    static std::vector<std::uint64_t> chunks_of(AddressView addresses);

    AddressView addresses_;
    Stored<std::uint32_t> pages_;   // by 8 GiB: where its chunks begin
    Stored<std::uint32_t> chunks_;  // by MiB of such a page: where its words begin
    Stored<Word> words_;            // by KiB
};

template <class Self, class Part>
void ObjectIndex::fields(Self& self, Part& part, AddressView addresses) {
    const auto leads_into = [](std::uint32_t first, std::uint32_t count, std::size_t size) {
        return first == none || (first <= size && count <= size - first);
    };
    part.column(self.words_, [&](const Word& word) {
        return word.before <= addresses.size() &&
               static_cast<std::size_t>(std::popcount(word.bits)) <= addresses.size() - word.before;
    });
    part.column(self.chunks_,
                [&](std::uint32_t chunk) { return leads_into(chunk, words_a_chunk, self.words_.size()); });
    part.column(self.pages_,
                [&](std::uint32_t page) { return leads_into(page, chunks_a_page, self.chunks_.size()); });
    part.require(self.pages_.empty() || self.pages_.size() == pages, "the index of objects has no pages");
    if constexpr (Part::reading) self.addresses_ = addresses;
}

}  // namespace heapsift
