// The smallest set of edges without which a graph has no cycle (minimum feedback arc set) consists of the
// edges that lead back in the best order of its nodes. Up to twelve nodes: dynamic programming over all sets
// of nodes (4,096), the best order of each set by its last node. Beyond: a depth-first walk. Its edges to
// nodes that are still open lead back; each of them closes a cycle with edges of the walk, which are all
// kept, so none can be left out. The walk begins where people's back references lead and takes these edges
// last, so that they become the ones that lead back.

#include "analysis/cycle_opening.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace heapsift {
namespace {

constexpr std::uint64_t cost_of_an_edge = 1 << 20;

std::uint64_t cost(const MemberEdge& edge) { return cost_of_an_edge + edge.reluctance; }

CycleOpening smallest_opening(std::uint32_t members, std::span<const MemberEdge> edges) {
    const std::uint32_t sets = 1U << members;
    std::vector<std::uint64_t> weight(std::size_t{members} * members, 0);  // by source, then target
    for (const MemberEdge& edge : edges)
        if (edge.source != edge.target) weight[edge.source * members + edge.target] += cost(edge);
    struct Best {
        std::uint64_t cost = 0;
        std::uint32_t last = 0;
    };
    std::vector<Best> best(sets);
    for (std::uint32_t set = 1; set < sets; ++set) {
        best[set].cost = std::numeric_limits<std::uint64_t>::max();
        for (std::uint32_t rest = set; rest != 0; rest &= rest - 1) {
            const auto last = static_cast<std::uint32_t>(std::countr_zero(rest));
            const std::uint32_t before = set & ~(1U << last);
            std::uint64_t total = best[before].cost;
            for (std::uint32_t others = before; others != 0; others &= others - 1)
                total += weight[last * members + static_cast<std::uint32_t>(std::countr_zero(others))];
            if (total < best[set].cost) best[set] = {total, last};
        }
    }
    std::vector<std::uint32_t> place(members, 0);
    for (std::uint32_t set = sets - 1; set != 0; set &= ~(1U << best[set].last))
        place[best[set].last] = static_cast<std::uint32_t>(std::popcount(set));
    CycleOpening opening{{}, true};
    for (std::size_t i = 0; i < edges.size(); ++i)
        if (place[edges[i].source] >= place[edges[i].target]) opening.edges.push_back(i);
    return opening;
}

/// Edges by source, the least reluctant last.
std::vector<std::size_t> in_walking_order(std::span<const MemberEdge> edges) {
    std::vector<std::size_t> order(edges.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return edges[a].source != edges[b].source ? edges[a].source < edges[b].source
                                                  : edges[a].reluctance > edges[b].reluctance;
    });
    return order;
}

/// The target of most of the least reluctant edges.
std::uint32_t first_to_walk_from(std::uint32_t members, std::span<const MemberEdge> edges) {
    std::vector<std::uint32_t> wanted(members, 0);
    for (const MemberEdge& edge : edges) wanted[edge.target] += edge.reluctance == 0;
    return static_cast<std::uint32_t>(std::max_element(wanted.begin(), wanted.end()) - wanted.begin());
}

CycleOpening minimal_opening(std::uint32_t members, std::span<const MemberEdge> edges) {
    const std::vector<std::size_t> order = in_walking_order(edges);
    std::vector<std::size_t> first(std::size_t{members} + 1, 0);
    for (const MemberEdge& edge : edges) ++first[edge.source + 1];
    for (std::uint32_t i = 0; i < members; ++i) first[i + 1] += first[i];
    enum class Visit : std::uint8_t { not_yet, open, closed };
    std::vector<Visit> visited(members, Visit::not_yet);
    struct Step {
        std::uint32_t node;
        std::size_t next;
    };
    std::vector<Step> path;
    CycleOpening opening;
    const auto walk = [&](std::uint32_t start) {
        if (visited[start] != Visit::not_yet) return;
        visited[start] = Visit::open;
        path.push_back({start, first[start]});
        while (!path.empty()) {
            Step& step = path.back();
            if (step.next == first[step.node + 1]) {
                visited[step.node] = Visit::closed;
                path.pop_back();
                continue;
            }
            const std::size_t edge = order[step.next++];
            const std::uint32_t target = edges[edge].target;
            if (visited[target] == Visit::open) opening.edges.push_back(edge);
            if (visited[target] != Visit::not_yet) continue;
            visited[target] = Visit::open;
            path.push_back({target, first[target]});
        }
    };
    if (members > 0) walk(first_to_walk_from(members, edges));
    for (std::uint32_t node = 0; node < members; ++node) walk(node);
    std::sort(opening.edges.begin(), opening.edges.end());
    return opening;
}

}  // namespace

CycleOpening open_cycle(std::uint32_t members, std::span<const MemberEdge> edges) {
    return members <= most_members_for_smallest ? smallest_opening(members, edges)
                                                : minimal_opening(members, edges);
}

}  // namespace heapsift
