#pragma once

// Maps addresses to small numbers; filled once and looked up often. Open addressing in one flat array,
// without an allocation per entry. Most lookups are of words that are not in it. They end at a filter that
// has 16 times as many bits as needed, one per key, and still fits into the first-level cache. 34 to 68 bytes
// an entry.

#include "parsers/base/address.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace heapsift {

class AddressIndex {
public:
    static constexpr std::uint32_t missing = 0xffffffff;

    AddressIndex() : AddressIndex(0) {}
    /// Makes room for `count` addresses.
    explicit AddressIndex(std::size_t count)
        : entries_(std::bit_ceil(count * 2 + 2)), filter_(entries_.size() / 8 + 1) {
        shift_ = 64 - static_cast<unsigned>(std::countr_zero(entries_.size()));
    }

    /// `address` must not be null. If it is already there, its first value stays.
    void add(Address address, std::uint32_t value) {
        const std::uint64_t hash = hash_of(address.value);
        filter_[filter_word(hash)] |= filter_bit(hash);
        std::size_t at = hash >> shift_;
        while (entries_[at].key != 0 && entries_[at].key != address.value)
            at = (at + 1) & (entries_.size() - 1);
        if (entries_[at].key == address.value) return;
        entries_[at] = {address.value, value};
    }
    /// The value of `address`, or `missing`.
    std::uint32_t find(Address address) const {
        const std::uint64_t hash = hash_of(address.value);
        if (!(filter_[filter_word(hash)] & filter_bit(hash))) return missing;
        for (std::size_t at = hash >> shift_;; at = (at + 1) & (entries_.size() - 1)) {
            const Entry& entry = entries_[at];
            if (entry.key == address.value) return entry.key == 0 ? missing : entry.value;
            if (entry.key == 0) return missing;
        }
    }

private:
    struct Entry {
        std::uint64_t key = 0;
        std::uint32_t value = 0;
    };
    static std::uint64_t hash_of(std::uint64_t a) { return a * 0x9e3779b97f4a7c15ULL; }
    std::size_t filter_word(std::uint64_t hash) const {
        return hash >> shift_ >> 3;
    }  // eight slots share 64 bits
    static std::uint64_t filter_bit(std::uint64_t hash) { return std::uint64_t{1} << (hash >> 16 & 63); }

    std::vector<Entry> entries_;
    std::vector<std::uint64_t> filter_;
    unsigned shift_ = 0;
};

}  // namespace heapsift
