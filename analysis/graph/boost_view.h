#pragma once

// A graph as Boost.Graph sees it, so that its algorithms run on arrays that exist already.
//
// The problem: Boost.Graph has well-proven searches, components and paths, but its containers take some
// hundred bytes per node. The idea: its algorithms ask only for concepts (Siek, Lee, Lumsdaine: The Boost
// Graph Library, chapter 12), and a view of two pointers models them: a vertex is a number, an out-edge is a
// position in the row of its source, and iteration skips the edges that do not count.

#include "analysis/graph/targets_graph.h"

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/iterator/iterator_facade.hpp>
#include <boost/property_map/property_map.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace heapsift {

/// Models VertexListGraph and IncidenceGraph. Refers to `graph`; cheap to copy. Parallel edges appear as
/// often as `targets` has them.
template <TargetsGraph Graph>
class BoostView {
public:
    using vertex_descriptor = NodeId;
    struct edge_descriptor {
        NodeId source;
        NodeRow::iterator target;
        bool operator==(const edge_descriptor&) const = default;
    };
    struct traversal_category : boost::vertex_list_graph_tag, boost::incidence_graph_tag {};
    using directed_category = boost::directed_tag;
    using edge_parallel_category = boost::allow_parallel_edge_tag;
    using vertices_size_type = std::size_t;
    using edges_size_type = std::size_t;
    using degree_size_type = std::size_t;
    using vertex_iterator = IdRange<NodeId>::iterator;
    using adjacency_iterator = void;
    using in_edge_iterator = void;
    using edge_iterator = void;

    class out_edge_iterator : public boost::iterator_facade<out_edge_iterator, edge_descriptor,
                                                            boost::forward_traversal_tag, edge_descriptor> {
    public:
        out_edge_iterator() = default;
        out_edge_iterator(const Graph& graph, NodeId source, NodeRow::iterator at, NodeRow::iterator end)
            : graph_(&graph), source_(source), at_(at), end_(end) {
            skip();
        }

    private:
        friend class boost::iterator_core_access;
        void skip() {
            while (at_ != end_ && !edge_counts(*graph_, source_, *at_)) ++at_;
        }
        edge_descriptor dereference() const { return {source_, at_}; }
        void increment() {
            ++at_;
            skip();
        }
        bool equal(const out_edge_iterator& other) const { return at_ == other.at_; }

        const Graph* graph_ = nullptr;
        NodeId source_;
        NodeRow::iterator at_, end_;
    };

    explicit BoostView(const Graph& graph) : graph_(&graph) {}

    static vertex_descriptor null_vertex() { return no_node; }
    const Graph& graph() const { return *graph_; }

private:
    const Graph* graph_;
};

// The functions that Boost.Graph finds by argument-dependent lookup.

template <TargetsGraph Graph>
std::size_t num_vertices(const BoostView<Graph>& view) {
    return view.graph().node_count();
}

template <TargetsGraph Graph>
auto vertices(const BoostView<Graph>& view) {
    const IdRange<NodeId> all(num_vertices(view));
    return std::pair(all.begin(), all.end());
}

template <TargetsGraph Graph>
auto out_edges(NodeId node, const BoostView<Graph>& view) {
    using Iterator = typename BoostView<Graph>::out_edge_iterator;
    const NodeRow row = view.graph().targets(node);
    return std::pair(Iterator(view.graph(), node, row.begin(), row.end()),
                     Iterator(view.graph(), node, row.end(), row.end()));
}

template <TargetsGraph Graph>
std::size_t out_degree(NodeId node, const BoostView<Graph>& view) {
    const auto [first, last] = out_edges(node, view);
    return static_cast<std::size_t>(std::distance(first, last));
}

template <TargetsGraph Graph>
NodeId source(const typename BoostView<Graph>::edge_descriptor& edge, const BoostView<Graph>&) {
    return edge.source;
}

template <TargetsGraph Graph>
NodeId target(const typename BoostView<Graph>::edge_descriptor& edge, const BoostView<Graph>&) {
    return *edge.target;
}

template <TargetsGraph Graph>
boost::identity_property_map get(boost::vertex_index_t, const BoostView<Graph>&) {
    return {};
}

}  // namespace heapsift

namespace boost {

template <class Graph>
struct property_map<heapsift::BoostView<Graph>, vertex_index_t> {
    using type = identity_property_map;
    using const_type = identity_property_map;
};

}  // namespace boost
