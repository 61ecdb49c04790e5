#pragma once

// Random small heaps: objects at 0x10000, 0x10010, …, some held by C code, some by a count that is too high,
// some immortal, some held by nothing.

#include "tests/analysis/handmade_heap.h"

#include <random>

namespace heapsift::test {

inline std::uint64_t random_address(std::size_t object) {
    return 0x10000 + 16 * static_cast<std::uint64_t>(object);
}

inline HandmadeHeap random_heap(std::mt19937& random, std::size_t most_objects) {
    const std::size_t count = 1 + random() % most_objects;
    HandmadeHeap heap;
    std::vector<std::int64_t> found(count, 0);
    for (std::size_t i = 0; i < count; ++i)
        heap.objects.push_back(
            {Address(random_address(i)), "app.Node", facts(16 + i, 1 + random() % 1000), {}, {}});
    for (std::size_t edges = random() % (2 * count + 1); edges > 0; --edges) {
        const std::size_t source = random() % count, target = random() % count;
        heap.objects[source].references.push_back(reference(random_address(target), ".next"));
        ++found[target];
    }
    for (std::size_t natives = random() % 4; natives > 0; --natives) {
        const std::size_t target = random() % count;
        Reference native = reference(random_address(target), "<block of C code>", ReferenceKind::native);
        native.word = Address(0x20000 - 8 * static_cast<std::uint64_t>(natives));
        heap.natives.push_back(native);
        ++found[target];
    }
    for (std::size_t i = 0; i < count; ++i) {
        heap.objects[i].facts.refcount = found[i] + (random() % 12 == 0 ? 1 : 0);
        heap.objects[i].facts.immortal = random() % 30 == 0;
    }
    return heap;
}

}  // namespace heapsift::test
