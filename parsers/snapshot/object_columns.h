#pragma once

// The columns of objects while they are filled, by address.

#include "parsers/snapshot/found_objects.h"

#include <cstddef>
#include <utility>
#include <vector>

namespace heapsift {

struct ObjectColumns {
    AddressBuilder addresses;
    TypeColumn::Builder types;
    std::vector<FoundBy> found_by;

    /// Without the objects of these numbers, which ascend. Copies the columns if there are any.
    void drop(const std::vector<std::size_t>& numbers) {
        if (numbers.empty()) return;
        ObjectColumns kept;
        std::size_t from = 0;
        const auto keep_until = [&](std::size_t to) {
            kept.addresses.append(addresses, from, to);
            kept.types.append(types, from, to);
            const auto first = found_by.begin();
            kept.found_by.insert(kept.found_by.end(), first + static_cast<std::ptrdiff_t>(from),
                                 first + static_cast<std::ptrdiff_t>(to));
            from = to + 1;
        };
        for (const std::size_t number : numbers) keep_until(number);
        keep_until(found_by.size());
        *this = std::move(kept);
    }
};

/// Puts `other(i)` before what is at `places[i]`; the places ascend. Into a new column.
template <class Filled, class F>
void merge_column(Filled& column, const std::vector<std::size_t>& places, F&& other) {
    if (places.empty()) return;
    Filled merged;
    merged.reserve(column.size() + places.size());
    std::size_t from = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
        merged.append(column, from, places[i]);
        merged.push_back(other(i));
        from = places[i];
    }
    merged.append(column, from, column.size());
    column = std::move(merged);
}
/// Goes from the end to the front, so that nothing is overwritten before it was moved.
template <class T, class F>
void merge_column(std::vector<T>& column, const std::vector<std::size_t>& places, F&& other) {
    std::size_t from = column.size();
    column.resize(column.size() + places.size());
    for (std::size_t i = places.size(); i-- > 0;) {
        std::move_backward(column.begin() + static_cast<std::ptrdiff_t>(places[i]),
                           column.begin() + static_cast<std::ptrdiff_t>(from),
                           column.begin() + static_cast<std::ptrdiff_t>(from + i + 1));
        column[places[i] + i] = other(i);
        from = places[i];
    }
}

}  // namespace heapsift
