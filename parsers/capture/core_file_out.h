#pragma once

// Where the bytes of a captured core go: a sparse file, or one that is compressed.

#include "parsers/capture/core_headers_out.h"
#include "parsers/capture/frame_packer.h"
#include "parsers/capture/page_hashes.h"
#include "parsers/capture/remote_memory.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace heapsift {

/// An empty file, open for reading and writing; it is not closed here.
struct CaptureTarget {
    int descriptor = -1;
    std::string name;  // for messages: escaped
    std::string
        folder;  // where files without a name may be made, for what does not go into it at once; "": in memory
    Compression compression = Compression::none;
    bool in_order = false;  // each byte is written once, one after the other: a pipe. Only with a compression
};

/// Takes memory chunk by chunk while the process runs, then what had changed in the end. All throw `Error` (exit 1):
/// "cannot-write".
class CoreFileOut {
public:
    static std::unique_ptr<CoreFileOut> create(const CaptureTarget& target);
    virtual ~CoreFileOut() = default;

    /// Before the first chunk: what is going to come.
    virtual void begin(const MemoryPlan& plan) = 0;
    /// A chunk, or a newer state of one.
    virtual void keep(const MemoryPlan& plan, const Chunk& chunk, const ChunkBytes& read) = 0;
    /// Makes the core of `plan`: its pages are those kept before (`hashes` knows which there are), or changed ones.
    virtual void finish(const MemoryPlan& plan, const SecondReading& reading, const PageHashes& hashes,
                        std::string_view notes) = 0;

    /// Instead of all these: the core of memory that stands still. `read` gives the bytes of each chunk, in order.
    using ReadChunk = std::function<const ChunkBytes&(const Chunk&)>;
    virtual void write_all(const MemoryPlan& plan, std::string_view notes, const ReadChunk& read) = 0;

    /// The size of the file, holes included, after the end.
    virtual std::uint64_t file_bytes() const = 0;
};

}  // namespace heapsift
