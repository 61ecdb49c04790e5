#pragma once

// Lists of references, in text and JSON: of show, referents, referrers.

#include "analysis/edges.h"
#include "cli/answer.h"

#include <string>

namespace heapsift {

Json edge_json(const EdgeRow& edge, Redactor& redactor);
Json edges_json(const std::vector<EdgeRow>& edges, Redactor& redactor);

/// A heading and a table, or a sentence where there are none.
std::string referents_text(const EdgeList& list, const Page& page);
std::string referrers_text(const EdgeList& list, const Page& page);

/// The answers of the commands of these names refer to `result`.
Answer render_referents(const EdgesResult& result, Redactor& redactor);
Answer render_referrers(const EdgesResult& result, Redactor& redactor);

}  // namespace heapsift
