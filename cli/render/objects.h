#pragma once

// Single objects.

#include "analysis/objects.h"
#include "cli/document/document.h"

#include <functional>
#include <string>

namespace heapsift {

/// `row` reads one object: all of a large heap as rows at once would be several times the heap. It is kept with the
/// document, and owns what it reads from. `what` says what was asked for: "objects of type dict".
Document render_objects(ObjectsResult result, std::function<ObjectRow(ObjectId)> row, const std::string& what,
                        SortKey sort);

}  // namespace heapsift
