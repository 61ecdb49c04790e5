#pragma once

// Everything that a node reaches, each node once: Boost.Graph's breadth_first_visit, which takes hardly
// longer than a loop written by hand (0.99 and 1.12 times in two runs of tests/benchmarks/graph.cpp, where
// marking is all the work). What is still to be looked at is on a stack: the order does not matter here, and
// neighbours on a stack are neighbours in memory.

#include "analysis/graph/boost_view.h"

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/properties.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapsift {

/// What a search still has to look at: a Buffer of Boost.Graph. One can serve many searches.
class SearchStack {
public:
    using value_type = NodeId;
    using size_type = std::size_t;

    void push(NodeId node) { nodes_.push_back(node); }
    void pop() { nodes_.pop_back(); }
    NodeId top() const { return nodes_.back(); }
    NodeId& top() { return nodes_.back(); }
    bool empty() const { return nodes_.empty(); }
    std::size_t size() const { return nodes_.size(); }

private:
    std::vector<NodeId> nodes_;
};

/// Boost.Graph's colours, from two functions: one tells whether a node is marked, one marks it.
template <class IsMarked, class Mark>
struct MarkColours {
    using key_type = NodeId;
    using value_type = boost::default_color_type;
    using reference = value_type;
    using category = boost::read_write_property_map_tag;

    friend value_type get(const MarkColours& colours, NodeId node) {
        return colours.is_marked(node) ? boost::black_color : boost::white_color;
    }
    friend void put(const MarkColours& colours, NodeId node, value_type colour) {
        if (colour == boost::gray_color) colours.mark(node);  // black: already marked when it was met
    }

    IsMarked is_marked;
    Mark mark;
};

/// Marks `start` and everything it reaches through unmarked nodes, by `is_marked(node)` and `mark(node)`.
/// Marked nodes are not entered; `start` always is.
template <TargetsGraph Graph, class IsMarked, class Mark>
void search(const Graph& graph, NodeId start, IsMarked is_marked, Mark mark, SearchStack& stack) {
    boost::breadth_first_visit(BoostView<Graph>(graph), start, stack, boost::default_bfs_visitor(),
                               MarkColours<IsMarked, Mark>{is_marked, mark});
}

}  // namespace heapsift
