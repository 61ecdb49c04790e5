#pragma once

// Which pages of a living process have bytes, and the plan of what a core of it saves.

#include "parsers/base/address.h"
#include "parsers/capture/memory_map.h"
#include "parsers/capture/process_files.h"

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace heapsift {

inline constexpr std::uint64_t captured_page = 4096;  // bytes, of x86-64

/// Pages that follow each other, with the same to be said of them.
struct PageRun {
    Address start;
    std::uint64_t pages = 0;
    bool maybe_zero_page = false;  // if all zero, it may be the kernel's page of zeros: never written
};

/// What is saved of a mapping.
struct PlannedMapping {
    Mapping mapping;
    std::uint64_t saved_bytes = 0;  // from its start; the rest is named without bytes
};

/// At most a mebibyte of one mapping, on that grid: what is read, hashed, written and compressed at a time.
struct Chunk {
    AddressRange range;                      // clipped to what is saved of its mapping
    std::size_t first_run = 0, end_run = 0;  // in MemoryPlan::runs
    std::uint64_t first_page = 0;            // number of the first page of its first run
};

/// A core's memory, before it is read.
struct MemoryPlan {
    std::vector<PlannedMapping> mappings;  // all of the process
    std::vector<PageRun> runs;             // of pages to be read, ascending; none crosses a chunk
    std::vector<Chunk> chunks;             // those with runs, ascending
    std::uint64_t pages = 0;               // of all runs: pages are numbered in this order
};

/// Puts a plan together, mapping by mapping, in order of address.
class PlanBuilder {
public:
    /// `runs`: pages to be read, ascending, within what is saved; they are cut at the chunks' borders, and what lies below
    /// the end of one before is left out.
    void add(Mapping mapping, std::uint64_t saved_bytes, std::span<const PageRun> runs);
    MemoryPlan take() { return std::move(plan_); }

private:
    MemoryPlan plan_;
};

/// The pages that are saved and have no bytes, ascending. `is_there`: whether the page of that number has some.
std::vector<AddressRange> pages_without_bytes(const MemoryPlan& plan,
                                              const std::function<bool(std::uint64_t)>& is_there);

/// Looks up which pages there are. Cost: that of the kernel's walk over the page tables, some 10 ns for each page that is
/// there (PAGEMAP_SCAN, Linux 6.7), before that for each page that could be. Throws `Error` (exit 1): "process-ended",
/// "not-permitted". `original`: of a copy by a fork the process that it is one of, whose page tables of shared huge pages it
/// does not have.
MemoryPlan plan_memory(const ProcessFiles& process, std::vector<Mapping> mappings, const CoreFilter& filter,
                       const ProcessFiles* original = nullptr);

}  // namespace heapsift
