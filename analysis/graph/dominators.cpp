#include "analysis/graph/dominators.h"

#include <algorithm>
#include <cassert>

namespace heapsift {
namespace {

/// Semidominators: computed from the last position to the first. What has been computed is linked to its
/// parent in the depth-first tree, and hangs together in paths; they are shortened as they are walked.
class Semidominators {
public:
    explicit Semidominators(const std::vector<std::uint32_t>& parents) : links_(parents.size()) {
        for (std::size_t p = 0; p < parents.size(); ++p) links_[p].above = parents[p];
    }

    void link(std::uint32_t position, std::uint32_t semidominator) { links_[position].least = semidominator; }
    void fetch(std::uint32_t position) const { __builtin_prefetch(&links_[position]); }

    /// The least semidominator on the path from `position` up to what is linked last, which is `last`.
    std::uint32_t least(std::uint32_t position, std::uint32_t last) {
        for (std::uint32_t at = position; links_[at].above >= last; at = links_[at].above)
            path_.push_back(at);
        for (; !path_.empty(); path_.pop_back()) {
            Link& link = links_[path_.back()];
            const Link& above = links_[link.above];
            link = {above.above, std::min(link.least, above.least)};
        }
        return links_[position].least;
    }

private:
    struct Link {
        std::uint32_t above;      // an ancestor
        std::uint32_t least = 0;  // semidominator of all from here up to that ancestor, left out
    };
    std::vector<Link> links_;          // by position
    std::vector<std::uint32_t> path_;  // a linked list of ten million nodes is an ordinary heap
};

}  // namespace

DominatorTree DominatorTree::build(const Preorder& preorder, const SourceRows& sources) {
    assert(sources.row_count() == preorder.reached());
    const std::vector<std::uint32_t>& parents = preorder.parents();
    DominatorTree tree;
    // At first the semidominators.
    std::vector<std::uint32_t>& dominator = tree.dominator_;
    dominator.resize(parents.size());
    {
        Semidominators semi(parents);
        sources.visit_down(
            [&](std::uint32_t p, std::span<const std::uint32_t> row) {
                std::uint32_t lowest = parents[p];
                if (p == 0) row = {};  // the root
                for (const std::uint32_t source : row)
                    lowest = std::min(lowest, source < p ? source : semi.least(source, p + 1));
                semi.link(p, lowest);
                dominator[p] = lowest;
            },
            [&](std::uint32_t source) { semi.fetch(source); });
    }
    for (std::uint32_t p = 1; p < dominator.size(); ++p) {
        std::uint32_t above = parents[p];
        while (above > dominator[p]) above = dominator[above];
        dominator[p] = above;
    }
    return tree;
}

}  // namespace heapsift
