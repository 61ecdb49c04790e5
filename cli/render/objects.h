#pragma once

// Single objects.

#include "analysis/objects.h"
#include "cli/document/document.h"

#include <functional>
#include <string>

namespace heapsift {

/// `row` reads one object: rows for all objects of a large heap would be several times the heap. The document
/// keeps it, and it owns what it reads from. `what` says what was asked for: "objects of type dict".
Document render_objects(ObjectsResult result, std::function<ObjectRow(ObjectId)> row, const std::string& what,
                        SortKey sort);

}  // namespace heapsift
