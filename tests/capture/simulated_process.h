#pragma once

// The memory of a process that changes, page by page, without the process: what a capture is to find.

#include "parsers/capture/page_hashes.h"
#include "parsers/capture/pages.h"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace heapsift::test {

struct SimulatedMapping {
    std::uint64_t start = 0, pages = 0;
    bool writable = true;
};

class SimulatedProcess {
public:
    std::vector<SimulatedMapping> mappings;  // ascending
    std::map<std::uint64_t, std::uint64_t>
        page_seeds;  // the pages that are there: address, what its bytes are made of

    static std::vector<std::byte> bytes_of(std::uint64_t seed) {
        std::vector<std::byte> bytes(captured_page);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::byte>(seed * (i / 64 + 1) >> (i % 8));
        return bytes;
    }

    MemoryPlan plan() const {
        PlanBuilder builder;
        for (const SimulatedMapping& one : mappings) {
            Mapping mapping;
            mapping.range = {Address(one.start), Address(one.start + one.pages * captured_page)};
            mapping.readable = true;
            mapping.writable = one.writable;
            std::vector<PageRun> runs;
            for (auto page = page_seeds.lower_bound(one.start);
                 page != page_seeds.end() && page->first < mapping.range.end.value; ++page) {
                if (!runs.empty() &&
                    runs.back().start + runs.back().pages * captured_page == Address(page->first))
                    ++runs.back().pages;
                else
                    runs.push_back({Address(page->first), 1, false});
            }
            builder.add(mapping, runs.empty() ? 0 : mapping.range.size(), runs);
        }
        return builder.take();
    }

    /// What RemoteMemory would read.
    ChunkBytes read(const MemoryPlan& plan, const Chunk& chunk, std::vector<std::byte>& buffer) const {
        buffer.assign(chunk.range.size(), std::byte{0});
        ChunkBytes read;
        for (std::size_t i = chunk.first_run; i < chunk.end_run; ++i)
            for (std::uint64_t n = 0; n < plan.runs[i].pages; ++n) {
                const Address at = plan.runs[i].start + n * captured_page;
                const auto page = page_seeds.find(at.value);
                read.there.push_back(page != page_seeds.end());
                if (page == page_seeds.end()) continue;
                const std::vector<std::byte> bytes = bytes_of(page->second);
                std::copy(bytes.begin(), bytes.end(),
                          buffer.begin() + static_cast<std::ptrdiff_t>(at - chunk.range.start));
            }
        read.bytes = buffer;
        return read;
    }

    /// What read_again would find.
    SecondReading read_again(const MemoryPlan& plan, const PageHashes& before) const {
        SecondReading reading;
        reading.changed = std::make_unique<ChangedPages>(4, 16 * captured_page, "/tmp");
        std::size_t hint = 0;
        for (const PageRun& run : plan.runs)
            for (std::uint64_t n = 0; n < run.pages; ++n) {
                const std::uint64_t at = run.start.value + n * captured_page;
                const auto page = page_seeds.find(at);
                if (page == page_seeds.end()) {
                    reading.pages.push_back(PageState::absent);
                    continue;
                }
                const std::vector<std::byte> bytes = bytes_of(page->second);
                reading.pages.push_back(before.equals(at, bytes.data(), hint)
                                            ? PageState::as_copied
                                            : PageState{reading.changed->add(bytes.data())});
            }
        return reading;
    }
};

}  // namespace heapsift::test
