#include "analysis/graph/dominators.h"

#include "parsers/base/in_pieces.h"

#include <algorithm>
#include <cassert>

namespace heapsift {
namespace {

constexpr std::size_t nodes_a_piece = 1 << 17;

/// Semidominators: computed from the last position to the first. What has been computed is linked to its
/// parent in the depth-first tree, and hangs together in paths; they are shortened as they are walked. No path
/// leads through a node that leads nowhere: only the others have a link, by their place among them. A node that has
/// its parent alone for a source has the parent for its semidominator: these have theirs from the beginning.
class Semidominators {
public:
    Semidominators(std::span<const std::uint32_t> parents, const RankedSet& inner)
        : inner_(inner), links_(inner.count()), first_(inner.count()) {
        in_any_order(piece_count(parents.size(), nodes_a_piece), [&](std::size_t piece) {
            const auto [begin, end] = piece_of(piece, parents.size(), nodes_a_piece);
            std::uint32_t at = inner.rank(begin);
            for (std::size_t p = begin; p < end; ++p)
                if (inner.has(p))
                    links_[at++] = {p == 0 ? DominatorTree::none : inner.rank(parents[p]), parents[p]};
        });
    }

    /// All behind `position` are linked from now on; in descending order.
    void link_behind(std::uint32_t position) {
        first_ = inner_.rank(position) + (inner_.has(position) ? 1 : 0);
    }
    void set(std::uint32_t position, std::uint32_t semidominator) {
        if (inner_.has(position)) links_[inner_.rank(position)].least = semidominator;
    }
    void fetch(std::uint32_t position) const { __builtin_prefetch(&links_[inner_.rank(position)]); }

    /// The least semidominator on the path from `position`, which is linked and leads somewhere, up to what is
    /// linked last.
    std::uint32_t least(std::uint32_t position) {
        const std::uint32_t from = inner_.rank(position);
        for (std::uint32_t at = from; links_[at].above >= first_; at = links_[at].above) path_.push_back(at);
        for (; !path_.empty(); path_.pop_back()) {
            Link& link = links_[path_.back()];
            const Link& above = links_[link.above];
            link = {above.above, std::min(link.least, above.least)};
        }
        return links_[from].least;
    }

private:
    struct Link {
        std::uint32_t above = 0;  // an ancestor: its place
        std::uint32_t least = 0;  // semidominator of all from here up to that ancestor, left out
    };
    const RankedSet& inner_;
    std::vector<Link> links_;
    std::uint32_t first_;              // the least place of what is linked
    std::vector<std::uint32_t> path_;  // a linked list of ten million nodes is an ordinary heap
};

}  // namespace

DominatorTree DominatorTree::build(const Preorder& preorder, const SourceRows& sources) {
    assert(sources.row_count() == preorder.reached());
    const std::span<const std::uint32_t> parents = preorder.parents();
    DominatorTree tree;
    std::vector<std::uint32_t> dominator(parents.begin(), parents.end());  // at first the semidominators
    {
        Semidominators semi(parents, sources.inner());
        sources.visit_down(
            [&](std::uint32_t p, std::span<const std::uint32_t> row) {
                if (p == 0) return;  // the root
                semi.link_behind(p);
                std::uint32_t lowest = parents[p];
                for (const std::uint32_t source : row)
                    lowest = std::min(lowest, source < p ? source : semi.least(source));
                semi.set(p, lowest);
                dominator[p] = lowest;
            },
            [&](std::uint32_t source) { semi.fetch(source); });
    }
    for (std::uint32_t p = 1; p < dominator.size(); ++p) {
        std::uint32_t above = parents[p];
        while (above > dominator[p]) above = dominator[above];
        dominator[p] = above;
    }
    tree.parents_ = parents;
    tree.others_ = RankedSet(parents.size());
    for (std::uint32_t p = 1; p < dominator.size(); ++p) {
        if (dominator[p] == parents[p]) continue;
        tree.others_.add(p);
        tree.dominator_.fill().push_back(dominator[p]);
    }
    tree.others_.finish();
    tree.dominator_.filled();
    return tree;
}

}  // namespace heapsift
