#pragma once

// Reading pages of another process.

#include "parsers/base/descriptor.h"
#include "parsers/capture/pages.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace heapsift {

/// What of a chunk was read.
struct ChunkBytes {
    std::span<const std::byte> bytes;  // of the chunk's range, from its start; zero where nothing was read
    std::vector<bool> there;  // for each page of its runs, in their order: read, and not the page of zeros
};

/// One reader; several may read the same process at once.
class RemoteMemory {
public:
    /// `shared_by_fork`: its pages are another process's as well, and reading must not make copies of them.
    explicit RemoteMemory(const ProcessFiles& process, bool shared_by_fork = false);

    /// Reads the runs of a chunk. What is returned holds until the next call. A page that cannot be read (unmapped
    /// meanwhile, a guard) is not `there`. Throws `Error` (exit 1): "process-ended", "not-permitted".
    const ChunkBytes& read(const MemoryPlan& plan, const Chunk& chunk);

private:
    void read_runs(std::span<const PageRun> runs, const Chunk& chunk);
    std::size_t read_at_once(std::span<const PageRun> runs, const Chunk& chunk);
    bool read_page(std::uint64_t address, std::byte* to) const;

    pid_t pid_;
    bool shared_by_fork_;
    Descriptor memory_;
    std::vector<std::byte> buffer_;
    bool dirty_ = false;  // the buffer has something other than zeros
    ChunkBytes result_;
};

}  // namespace heapsift
