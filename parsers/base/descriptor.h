#pragma once

// An open file of this machine, closed at the end of its scope.

#include <unistd.h>
#include <utility>

namespace heapsift {

class Descriptor {
public:
    /// What open() returned; -1: none.
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor() { close(); }

    int number() const { return number_; }
    bool is_open() const { return number_ >= 0; }
    void close() {
        if (is_open()) ::close(std::exchange(number_, -1));
    }

private:
    int number_;
};

}  // namespace heapsift
