#pragma once

// Lists of references, for show, referents and referrers.

#include "analysis/edges.h"
#include "cli/document/document.h"

#include <functional>
#include <memory>
#include <vector>

namespace heapsift {

/// EDGE of the contract.
Datum edge_data(const EdgeRow& edge);
Datum edges_data(const std::vector<EdgeRow>& edges);

/// A list and its rows: those that it keeps, or all, read one by one.
struct ShownEdges {
    std::shared_ptr<const EdgeList> list;
    RowsOf<EdgeRow> rows;
    std::uint64_t count = 0;  // of the rows
};
/// `all` reads all rows; empty: those in the list are shown.
using AllEdges = std::function<void(const EdgeList&, const EdgeVisitor&)>;
ShownEdges shown_edges(EdgeList list, AllEdges all);

/// Their data, made as it is written.
Datum edges_data(const ShownEdges& edges);

/// A heading and a table, or a sentence if there are no references. The document keeps the list.
void say_referents(const ShownEdges& edges, Document& document);
void say_referrers(const ShownEdges& edges, Document& document);

Document render_referents(EdgesResult result, AllEdges all = {});
Document render_referrers(EdgesResult result, AllEdges all = {});

}  // namespace heapsift
