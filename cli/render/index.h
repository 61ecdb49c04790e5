#pragma once

// The index of a core: where it lies and how large it is.

#include "cli/document/document.h"
#include "cli/index_place.h"

namespace heapsift {

Document render_index(const IndexThere& index);

/// For doctor: one line, and its data. Nothing if there is no index.
void add_index(const std::optional<IndexThere>& index, Document& document);

}  // namespace heapsift
