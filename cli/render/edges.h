#pragma once

// Lists of references, for show, referents and referrers.

#include "analysis/edges.h"
#include "cli/document/document.h"

#include <memory>
#include <vector>

namespace heapsift {

/// EDGE of the contract.
Datum edge_data(const EdgeRow& edge);
Datum edges_data(const std::vector<EdgeRow>& edges);

/// A heading and a table, or a sentence if there are no references. The document keeps the list.
void say_referents(std::shared_ptr<const EdgeList> list, Document& document);
void say_referrers(std::shared_ptr<const EdgeList> list, Document& document);

Document render_referents(EdgesResult result);
Document render_referrers(EdgesResult result);

}  // namespace heapsift
