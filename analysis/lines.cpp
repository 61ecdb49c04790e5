// Blocks grouped by the calls that allocated them.
//
// There are millions of blocks and some thousand tracebacks. So tracebacks are grouped first, by their most recent
// frames, and each block is one look at a column. The frames of a group are those of its first traceback.

#include "analysis/lines.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heapsift {
namespace {

struct LineGroup {
    std::uint32_t traceback = 0;  // one of the group
    std::uint32_t domain = 0;
    std::uint64_t count = 0, size = 0, largest_size = 0;
    Address largest;
};

std::vector<LineGroup> groups_of(const TracedMemory& traced, const LinesQuery& query) {
    const std::vector<std::uint32_t> firsts = alike_tracebacks(traced, query.frames);
    std::vector<LineGroup> of_zero(firsts.size());  // by the first traceback: without domains, or of domain 0
    std::map<std::pair<std::uint32_t, std::uint32_t>, LineGroup> of_others;  // by domain and traceback
    for (const TracedBlock& block : traced.blocks) {
        if (query.domain && block.domain != *query.domain) continue;
        const std::uint32_t first = firsts[block.traceback];
        const bool apart = query.by_domain && block.domain != 0;
        LineGroup& group = apart ? of_others[{block.domain, first}] : of_zero[first];
        group.traceback = first;
        group.domain = query.by_domain ? block.domain : 0;
        ++group.count;
        group.size += block.size;
        if (group.largest.is_null() || block.size > group.largest_size ||
            (block.size == group.largest_size && block.start < group.largest)) {
            group.largest = block.start;
            group.largest_size = block.size;
        }
    }
    std::erase_if(of_zero, [](const LineGroup& group) { return group.count == 0; });
    for (const auto& [key, group] : of_others) of_zero.push_back(group);
    return of_zero;
}

/// Whether `a` comes first. The calls are compared as texts only where the numbers are equal.
bool comes_before(const TracedMemory& traced, const LinesQuery& query, const LineGroup& a,
                  const LineGroup& b) {
    const auto number = [&](const LineGroup& group) -> std::uint64_t {
        switch (query.sort) {
            case LineSort::count:
                return group.count;
            case LineSort::average:
                return group.size / group.count;
            case LineSort::size:
            case LineSort::name:
                break;
        }
        return group.size;
    };
    if (query.sort != LineSort::name) {
        const auto left = std::tuple(number(b), b.size, b.count),
                   right = std::tuple(number(a), a.size, a.count);
        if (left != right) return left < right;
    }
    const auto calls_a = latest_calls(traced, a.traceback, query.frames),
               calls_b = latest_calls(traced, b.traceback, query.frames);
    const auto order =
        std::lexicographical_compare_three_way(calls_a.begin(), calls_a.end(), calls_b.begin(), calls_b.end(),
                                               [&](const TracedFrame& x, const TracedFrame& y) {
                                                   if (x.file != y.file)
                                                       return traced.files[x.file] <=> traced.files[y.file];
                                                   return std::strong_ordering(x.line <=> y.line);
                                               });
    if (order != 0) return order < 0;
    return a.domain < b.domain;
}

LineRow row_of(const TracedMemory& traced, const LinesQuery& query, const LineGroup& group) {
    LineRow row{.count = group.count, .size = group.size, .largest = group.largest};
    row.traceback = source_lines(traced, group.traceback, query.frames);
    if (query.by_domain) row.domain = group.domain;
    return row;
}

}  // namespace

LinesResult lines(const TracedMemory& traced, const LinesQuery& query) {
    LinesResult result{.available = traced.available,
                       .tracing = traced.tracing,
                       .most_frames = traced.most_frames,
                       .unread = traced.unread,
                       .counted_bytes = traced.counted_bytes,
                       .traced_bytes = traced.bytes};
    std::map<std::uint32_t, TracedDomain> domains;
    for (const TracedBlock& block : traced.blocks) {
        TracedDomain& domain = domains[block.domain];
        domain.domain = block.domain;
        ++domain.count;
        domain.size += block.size;
    }
    for (const auto& [number, domain] : domains) result.domains.push_back(domain);
    std::vector<LineGroup> groups = groups_of(traced, query);
    for (const LineGroup& group : groups) {
        result.total_count += group.count;
        result.total_size += group.size;
    }
    result.total_lines = groups.size();
    const std::size_t shown =
        query.limit == 0 ? groups.size() : std::min<std::size_t>(query.limit, groups.size());
    std::partial_sort(
        groups.begin(), groups.begin() + static_cast<std::ptrdiff_t>(shown), groups.end(),
        [&](const LineGroup& a, const LineGroup& b) { return comes_before(traced, query, a, b); });
    result.lines.reserve(shown);
    for (std::size_t i = 0; i < shown; ++i) {
        result.lines.push_back(row_of(traced, query, groups[i]));
        result.shown_size += groups[i].size;
    }
    return result;
}

}  // namespace heapsift
