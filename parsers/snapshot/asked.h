#pragma once

// A part of a result that is present only if it was asked for. Reading one that was not asked for is a bug of
// ours, and asserted: an empty part would read as "there are none".

#include <cassert>
#include <optional>
#include <utility>

namespace heapsift {

template <class T>
class Asked {
public:
    Asked() = default;
    Asked& operator=(T value) {
        value_.emplace(std::move(value));
        return *this;
    }

    bool there() const { return value_.has_value(); }
    const T& operator*() const {
        assert(value_);
        return *value_;
    }
    const T* operator->() const { return &**this; }

private:
    std::optional<T> value_;
};

}  // namespace heapsift
