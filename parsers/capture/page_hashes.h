#pragma once

// The hash of each page that was copied while the process ran, and the pages that had changed when it was stopped.

#include "parsers/base/descriptor.h"
#include "parsers/capture/pages.h"
#include "parsers/capture/remote_memory.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// Hashes by the address of their page, 8 bytes each.
class PageHashes {
public:
    /// For the pages of `plan`, none known.
    explicit PageHashes(const MemoryPlan& plan);
    PageHashes() = default;

    /// Takes the hashes of what was read of a chunk of that plan. Returns how many pages differ from what was known.
    std::uint64_t take(const MemoryPlan& plan, const Chunk& chunk, const ChunkBytes& read);
    /// Whether the page at `address` was known with these bytes. `hint`: where the last search ended; begin with 0.
    bool equals(std::uint64_t address, const std::byte* page, std::size_t& hint) const;
    /// How many pages of a range were kept at some time. Cost: a step for each.
    std::uint64_t count(const AddressRange& range) const;

private:
    struct Run {
        std::uint64_t start = 0;
        std::uint64_t first_hash = 0;
        std::uint64_t pages = 0;
    };
    std::vector<Run> runs_;
    std::vector<std::uint64_t> hashes_;
};

/// What became of a page of the second plan.
enum class PageState : std::uint32_t {
    as_copied = 0xffffffff,  // what was copied before is right
    absent = 0xfffffffe      // it has no bytes
};                           // any other value: its place in ChangedPages

/// Room for the pages that had changed: in memory up to a limit, beyond that in a file without a name. Several threads
/// may add at once.
class ChangedPages {
public:
    /// `expected`: for so many pages memory is taken at once. `folder`: where the file is made, if it is needed (nameless_file.h).
    ChangedPages(std::uint64_t expected, std::uint64_t limit_bytes, std::string folder);
    ~ChangedPages();
    ChangedPages(const ChangedPages&) = delete;
    ChangedPages& operator=(const ChangedPages&) = delete;

    /// Throws `Error` (exit 1): "cannot-write".
    std::uint32_t add(const std::byte* page);
    void read(std::uint32_t place, std::byte* to) const;
    std::uint64_t count() const { return next_; }

private:
    int file();

    std::byte* memory_ = nullptr;
    std::uint64_t in_memory_ = 0;  // pages
    std::string folder_;
    std::atomic<std::uint32_t> next_ = 0;
    Descriptor nameless_;
    std::atomic<int> file_ = -1;  // its number
};

/// The second reading, of the stopped process: which pages are as they were copied.
struct SecondReading {
    std::vector<PageState> pages;  // by number
    std::unique_ptr<ChangedPages> changed;
};

/// Reads all pages of `plan` with so many threads; those that changed are put into `changed`. Throws what RemoteMemory and
/// ChangedPages throw.
SecondReading read_again(const ProcessFiles& process, const MemoryPlan& plan, const PageHashes& before,
                         std::size_t readers, std::unique_ptr<ChangedPages> changed);

}  // namespace heapsift
