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

/// The lines of a path, indented; `asked` marks the last one.
std::string path_text(const WhyPath& path, const Page& page);
std::string steps_text(const ObjectRow& start, const std::vector<WhyStep>& steps, const Page& page);

}  // namespace heapsift
