#pragma once

// Paths from roots, as lines of text, as JSON, as an expression that can be typed.

#include "analysis/why.h"
#include "cli/json.h"
#include "cli/page.h"

#include <string>

namespace heapsift {

/// "app.CACHE['k'][3]"; not escaped.
std::string expression_of(const PathExpression& expression, Redactor& redactor);

Json path_json(const WhyPath& path, Redactor& redactor);
Json steps_json(const std::vector<WhyStep>& steps, Redactor& redactor);

/// The lines of a path, indented; `asked` marks the last one. Of more than `limit` lines the middle is left
/// out; 0: never.
std::string path_text(const WhyPath& path, std::size_t limit, const Page& page);
std::string steps_text(const ObjectRow& start, const std::vector<WhyStep>& steps, std::size_t limit,
                       const Page& page);

}  // namespace heapsift
