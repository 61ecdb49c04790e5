#pragma once

// What tracemalloc recorded in the dumped process: each traced block, its size, and the calls that allocated it.
//
// tracemalloc keeps a table of live blocks (address to size and traceback) and one of distinct tracebacks. Until 3.11
// static variables lead to them, and a stripped interpreter names none of these. So the tables are found by what is in
// them (tracemalloc.cpp says how), in every version in the same way, and prove themselves.

#include "parsers/cpython/python_heap.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

class CoreFile;

struct TracedFrame {
    std::uint32_t file = 0;  // index into TracedMemory::files
    std::uint32_t line = 0;  // 0 unknown
};

/// One traced block: 24 bytes.
struct TracedBlock {
    Address start;
    std::uint64_t size = 0;  // bytes that were asked for
    std::uint32_t traceback = 0;
    std::uint32_t domain = 0;  // 0: Python's allocators; else whoever traces, as NumPy does (389047)
};

struct TracedMemory {
    bool available = true;  // CPython 2.7 has no tracemalloc
    /// Whether tracemalloc was on. Then there are blocks, unless they could not be read.
    bool tracing = false;
    std::uint32_t most_frames = 0;        // tracemalloc.start(most_frames); 0 unknown
    std::vector<std::string> files = {};  // distinct; not escaped, not trusted, UTF-8 as a rule
    std::vector<TracedBlock> blocks = {};
    std::uint64_t unread = 0;  // blocks that the tables promise and that do not read
    std::uint64_t bytes = 0;   // the sum of the blocks
    /// What the interpreter itself counts as traced, where that variable is known.
    std::optional<std::uint64_t> counted_bytes = {};

    /// Of a traceback: its calls, the most recent one first; at least one.
    std::span<const TracedFrame> traceback(std::uint32_t number) const {
        return std::span(frames).subspan(first_frames[number],
                                         first_frames[number + 1] - first_frames[number]);
    }
    std::size_t traceback_count() const { return depths.size(); }

    std::vector<TracedFrame> frames = {};           // of all tracebacks
    std::vector<std::uint64_t> first_frames = {0};  // by traceback, and the end
    std::vector<std::uint16_t> depths = {};  // by traceback: calls there were, recorded or not; 0 unknown
};

/// What is known of tracemalloc's variables by their symbols.
struct TracemallocVariables {
    std::optional<Address> config;         // _Py_tracemalloc_config
    std::optional<Address> traced_memory;  // tracemalloc_traced_memory
};

/// Reads the tables that a word of `variables` leads to. `known`: where the interpreter has no struct for them. Cost:
/// one pass over `variables`, and some 200 ns a traced block.
TracedMemory traced_memory(const PythonHeap& heap, std::span<const AddressRange> variables,
                           const TracemallocVariables& known = {});

/// The block that begins at `start` alone, once for each domain that has it; no sums. (Until 3.8, of domain 0.) Cost:
/// one pass over `variables`.
TracedMemory traced_block(const PythonHeap& heap, std::span<const AddressRange> variables, Address start);

/// The same of a core: the variables of the interpreter's module, or of all memory if that is unknown.
TracedMemory traced_memory(const CoreFile& core, const PythonHeap& heap);
TracedMemory traced_block(const CoreFile& core, const PythonHeap& heap, Address start);

}  // namespace heapsift
