#pragma once

// Single objects, in text and JSON.

#include "analysis/objects.h"
#include "cli/answer.h"

#include <functional>

namespace heapsift {

/// `row` reads one object; `what` says what was asked for: "objects of type dict". The answer refers to
/// `result`.
Answer render_objects(const ObjectsResult& result, std::function<ObjectRow(ObjectId)> row, std::string what,
                      SortKey sort, Redactor& redactor);

}  // namespace heapsift
