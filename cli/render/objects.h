#pragma once

// Single objects.

#include "analysis/objects.h"
#include "analysis/source_line.h"
#include "cli/document/document.h"

#include <functional>
#include <optional>
#include <string>

namespace heapsift {

/// Read one object: rows for all objects of a large heap would be several times the heap. The document keeps them, and
/// they own what they read from.
struct ObjectDetails {
    std::function<ObjectRow(ObjectId)> row;
    std::function<std::optional<SourceLine>(Address)> line;  // that allocated it; none: tracemalloc was off
};

/// `what` says what was asked for: "objects of type dict".
Document render_objects(ObjectsResult result, const ObjectDetails& details, const std::string& what,
                        SortKey sort);

}  // namespace heapsift
