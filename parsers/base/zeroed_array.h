#pragma once

// Numbers that are 0 until something else is stored. Pages of a large array that nobody writes cost nothing: fresh memory
// of the system is zero (calloc), and a vector would write it.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace heapsift {

template <class T>
class ZeroedArray {
public:
    static_assert(std::is_trivially_copyable_v<T>);
    ZeroedArray() = default;
    /// Throws std::bad_alloc.
    explicit ZeroedArray(std::size_t size)
        : size_(size), values_(static_cast<T*>(std::calloc(size, sizeof(T)))) {
        if (!values_ && size != 0) throw std::bad_alloc();
    }

    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return values_.get()[i]; }
    const T& operator[](std::size_t i) const { return values_.get()[i]; }

private:
    struct Free {
        void operator()(T* values) const { std::free(values); }
    };
    std::size_t size_ = 0;
    std::unique_ptr<T[], Free> values_;
};

}  // namespace heapsift
