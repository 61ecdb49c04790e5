#pragma once

// From an address to a small number, made once and asked often: open addressing in one flat array, no allocation per entry. A
// miss costs one probe as a rule; 12 bytes an entry at half load.

#include "parsers/base/address.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace heapsift {

class AddressIndex {
public:
    static constexpr std::uint32_t missing = 0xffffffff;

    AddressIndex() : AddressIndex(0) {}
    /// Room for `count` addresses.
    explicit AddressIndex(std::size_t count)
        : keys_(std::bit_ceil(count * 2 + 2)), values_(keys_.size()), mask_(keys_.size() - 1) {}

    /// `address` is not null; the first value of an address stays.
    void add(Address address, std::uint32_t value) {
        std::size_t at = slot(address.value);
        while (keys_[at] != 0 && keys_[at] != address.value) at = (at + 1) & mask_;
        if (keys_[at] == address.value) return;
        keys_[at] = address.value;
        values_[at] = value;
    }
    /// The value of `address`, or `missing`.
    std::uint32_t find(Address address) const {
        for (std::size_t at = slot(address.value);; at = (at + 1) & mask_) {
            if (keys_[at] == address.value) return keys_[at] == 0 ? missing : values_[at];
            if (keys_[at] == 0) return missing;
        }
    }

private:
    std::size_t slot(std::uint64_t a) const { return (a * 0x9e3779b97f4a7c15ULL >> 20) & mask_; }

    std::vector<std::uint64_t> keys_;
    std::vector<std::uint32_t> values_;
    std::size_t mask_;
};

}  // namespace heapsift
