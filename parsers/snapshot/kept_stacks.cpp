// The collector of free-threaded builds gathers what it looks at, and what it is going to free, in stacks
// (pycore_object_stack.h, since 3.13): chains of chunks of {prev, n, 254 objects}, from malloc. A thread keeps
// some of those that are empty, in a list that begins in its state, with the addresses that were in them last:
// a thousand words, each as good as a holder of C code's, where nobody holds anything.
//
// Where the list begins is known of no build (behind the thread's heaps of mimalloc), so it is told by what it
// must be: a pointer and a number; so many chunks, each in a block of its own that it fills, with n = 0; the
// last with no other behind it.

#include "parsers/snapshot/kept_stacks.h"

#include <algorithm>
#include <optional>

namespace heapsift {
namespace {

constexpr std::uint64_t header_bytes = 16, chunk_bytes = header_bytes + 254 * 8;
constexpr std::uint64_t searched_bytes = 32 << 10;  // _PyThreadStateImpl has 18 KiB in 3.13
constexpr std::uint64_t most_chunks = 256;          // 4 in 3.13 (pycore_freelist_state.h)

std::optional<std::vector<AddressRange>> chunks_of(const PythonHeap& heap, const Allocations& allocations,
                                                   Address first, std::uint64_t count) {
    std::vector<AddressRange> dead;
    for (Address at = first; !at.is_null(); at = heap.pointer(at)) {
        if (dead.size() == count || !at.aligned(8)) return std::nullopt;
        if (heap.integer<std::uint64_t>(at + 8) != 0) return std::nullopt;
        const auto block = allocations.block_starting_at(at);
        if (!block || block->usable < chunk_bytes || block->usable > chunk_bytes + 64) return std::nullopt;
        dead.push_back({at + header_bytes, at + chunk_bytes});
    }
    return dead.size() == count ? std::optional(std::move(dead)) : std::nullopt;
}

}  // namespace

std::vector<AddressRange> kept_object_stacks(const PythonHeap& heap, const Allocations& allocations) {
    std::vector<AddressRange> dead;
    if (!heap.layout().object.ob_gc_bits.present()) return dead;
    for (const PythonInterpreter& interpreter : heap.runtime().interpreters)
        for (const Address thread : interpreter.threads)
            for (std::uint64_t at = 0; at + 16 <= searched_bytes; at += 8) {
                const auto count = heap.integer<std::uint64_t>(thread + at + 8);
                if (count == 0 || count > most_chunks) continue;
                const auto chunks = chunks_of(heap, allocations, heap.pointer(thread + at), count);
                if (chunks) dead.insert(dead.end(), chunks->begin(), chunks->end());
            }
    std::sort(dead.begin(), dead.end(),
              [](const AddressRange& a, const AddressRange& b) { return a.start < b.start; });
    const auto same = [](const AddressRange& a, const AddressRange& b) { return a.start == b.start; };
    dead.erase(std::unique(dead.begin(), dead.end(), same), dead.end());
    return dead;
}

}  // namespace heapsift
