#include "analysis/graph/dominators.h"

#include <algorithm>

namespace heapsift {

// Computes semidominators from the last position to the first. `ancestor` starts as the parent in the
// depth-first tree and is shortened as it is walked; for the nodes that a shortened path skips, `label` keeps
// the position with the smallest semidominator.
void DominatorTree::solve(const std::vector<std::uint32_t>& parents,
                          const std::vector<std::uint64_t>& first_source,
                          const std::vector<std::uint32_t>& sources) {
    const auto count = static_cast<std::uint32_t>(parents.size());
    std::vector<std::uint32_t> parent = parents;
    dominator_ = parents;
    std::vector<std::uint32_t> semi(count), label(count);
    for (std::uint32_t p = 0; p < count; ++p) semi[p] = label[p] = p;
    std::vector<std::uint32_t> path;
    // Positions from `last` on are linked: the paths between them may be shortened.
    auto least = [&](std::uint32_t p, std::uint32_t last) {
        if (p < last) return p;
        for (std::uint32_t at = p; parent[at] != none && parent[at] >= last; at = parent[at])
            path.push_back(at);
        while (!path.empty()) {
            const std::uint32_t at = path.back();
            path.pop_back();
            const std::uint32_t above = parent[at];
            if (semi[label[above]] < semi[label[at]]) label[at] = label[above];
            parent[at] = parent[above];
        }
        return label[p];
    };
    for (std::uint32_t p = count; p-- > 1;) {
        std::uint32_t lowest = dominator_[p];
        for (std::uint64_t i = first_source[p]; i < first_source[p + 1]; ++i)
            lowest = std::min(lowest, semi[least(sources[i], p + 1)]);
        semi[p] = lowest;
    }
    for (std::uint32_t p = 1; p < count; ++p) {
        std::uint32_t above = dominator_[p];
        while (above > semi[p]) above = dominator_[above];
        dominator_[p] = above;
    }
}

}  // namespace heapsift
