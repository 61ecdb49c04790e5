#pragma once

// What most of a few things have in common.

#include <cstdint>
#include <utility>
#include <vector>

namespace heapsift {

/// Of values counted over a sample, the most frequent, if at least half are alike; by weight, if these have one.
template <class T>
class MostFrequent {
public:
    void add(const T& value, std::uint64_t weight = 1) {
        all_ += weight;
        for (auto& [known, count] : counts_)
            if (known == value) return void(count += weight);
        counts_.emplace_back(value, weight);
    }
    const T* get() const {
        for (const auto& [value, count] : counts_)
            if (2 * count >= all_) return &value;
        return nullptr;
    }

private:
    std::vector<std::pair<T, std::uint64_t>> counts_;  // a sample is small
    std::uint64_t all_ = 0;
};

}  // namespace heapsift
