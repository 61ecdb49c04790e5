#pragma once

// Memory of a process, written word by word, for tests of allocators.

#include "parsers/elf/address_space.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <list>
#include <vector>

namespace heapsift::test {

class WrittenMemory {
public:
    /// Zeros. `module`: of which it is the data; -1: anonymous.
    void map(Address start, std::uint64_t size, std::int32_t module = -1) {
        parts_.push_back({start, std::vector<std::byte>(size), module});
    }
    template <class T>
    void put(Address at, T value) {
        std::memcpy(bytes_at(at), &value, sizeof value);
    }
    void put(Address at, Address value) { put(at, value.value); }
    template <class T>
    T get(Address at) {
        T value;
        std::memcpy(&value, bytes_at(at), sizeof value);
        return value;
    }
    /// Refers to this memory.
    AddressSpace space() const {
        std::vector<Segment> segments;
        for (const Part& part : parts_) {
            Segment segment;
            segment.start = part.start;
            segment.size = part.bytes.size();
            segment.data = part.bytes.data();
            segment.state = ByteState::in_core;
            segment.writable = true;
            segment.module = part.module;
            segments.push_back(segment);
        }
        return AddressSpace(std::move(segments));
    }

private:
    struct Part {
        Address start;
        std::vector<std::byte> bytes;
        std::int32_t module;
    };
    std::byte* bytes_at(Address at) {
        for (Part& part : parts_)
            if (at >= part.start && at - part.start < part.bytes.size())
                return part.bytes.data() + (at - part.start);
        std::abort();  // the test writes where it mapped nothing
    }
    std::list<Part> parts_;
};

}  // namespace heapsift::test
