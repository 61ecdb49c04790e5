#include "analysis/source_line.h"

#include <algorithm>
#include <unordered_map>

namespace heapsift {

std::span<const TracedFrame> latest_calls(const TracedMemory& traced, std::uint32_t traceback,
                                          std::size_t frames) {
    const auto all = traced.traceback(traceback);
    return all.first(std::min(frames, all.size()));
}

std::vector<std::uint32_t> alike_tracebacks(const TracedMemory& traced, std::size_t frames) {
    constexpr std::uint64_t multiplier = 0x9e3779b97f4a7c15ULL;
    std::vector<std::uint32_t> firsts(traced.traceback_count());
    std::unordered_multimap<std::uint64_t, std::uint32_t> known;
    for (std::uint32_t i = 0; i < firsts.size(); ++i) {
        const auto calls = latest_calls(traced, i, frames);
        std::uint64_t hash = calls.size();
        for (const TracedFrame& call : calls)
            hash = (hash ^ (std::uint64_t{call.file} << 32 | call.line)) * multiplier;
        firsts[i] = i;
        const auto [begin, end] = known.equal_range(hash);
        for (auto at = begin; at != end; ++at) {
            const auto others = latest_calls(traced, at->second, frames);
            if (std::equal(calls.begin(), calls.end(), others.begin(), others.end(),
                           [](const TracedFrame& a, const TracedFrame& b) {
                               return a.file == b.file && a.line == b.line;
                           }))
                firsts[i] = at->second;
        }
        if (firsts[i] == i) known.emplace(hash, i);
    }
    return firsts;
}

std::vector<SourceLine> source_lines(const TracedMemory& traced, std::uint32_t traceback,
                                     std::size_t frames) {
    const auto latest = latest_calls(traced, traceback, frames);
    std::vector<SourceLine> lines;
    for (auto call = latest.rbegin(); call != latest.rend(); ++call)
        lines.push_back({traced.files[call->file], call->line});
    return lines;
}

std::vector<SourceLine> allocated_at(const HeapReader& heap, Address start) {
    const TracedMemory traced = traced_block(heap.core(), heap.python_heap(), start);
    if (traced.blocks.empty()) return {};
    const std::uint32_t traceback = traced.blocks.front().traceback;
    return source_lines(traced, traceback, traced.traceback(traceback).size());
}

std::vector<SourceLine> allocated_at(const HeapReader& heap, ObjectId object) {
    const HeapSnapshot& columns = heap.snapshot();
    if (columns.type_of(object) == no_type) return {};
    return allocated_at(heap, columns.address_of(object) - columns.type_info(object).presize);
}

}  // namespace heapsift
