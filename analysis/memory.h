#pragma once

// Who owns each byte of the process, in one table that adds up.

#include "analysis/kept_answers.h"
#include "analysis/native.h"
#include "parsers/reading/heap_reader.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct MappingWithFile {
    MappingRow mapping;
    std::string file;  // as in the core: not trusted, not escaped; empty: none
};

struct MemoryResult {
    std::uint64_t mapped = 0, in_use = 0, reserved = 0, in_core = 0;  // bytes
    std::vector<MemoryRow> rows;  // MemoryRows::rows, largest first within their use; they add up to `mapped`
    std::vector<AllocatorRow> allocators;   // MemoryRows::allocators
    std::vector<MappingWithFile> mappings;  // by address; only if they were asked for
    std::uint64_t mapping_count = 0;        // without the limit
    std::optional<NativeCulprit> culprit;
    struct Sparse {
        std::uint64_t arenas = 0, free_bytes = 0, blocks = 0;  // SparseArenas
        struct Type {
            std::string name;
            std::uint64_t objects = 0;
        };
        std::vector<Type> types;  // most first
    } sparse;
    // mmap.mmap objects that are open, and the bytes that they map, each once. They lie in the rows of shared memory, of
    // data files or of mappings without an owner: sys.getsizeof and `memory` of an mmap.mmap do not have them.
    struct MappedByObjects {
        std::uint64_t objects = 0, bytes = 0;
    } mapped_by_objects;
    std::uint64_t overlaps = 0;     // MemoryRows::overlaps
    std::uint64_t zero_blocks = 0;  // bytes of pages of zeros in large blocks, not counted as in use
    std::uint64_t zeros = 0;        // bytes in use that the process may never have touched (zeros_in_use.h)
};

/// `limit`: how many mappings, the largest of them; 0: all.
MemoryResult memory(const HeapReader& heap, bool mappings, std::size_t limit = 0,
                    KeptAnswers* answers = nullptr);

}  // namespace heapsift
