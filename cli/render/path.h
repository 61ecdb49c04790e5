#pragma once

// Paths from roots, as lines and as data.

#include "analysis/why.h"
#include "cli/document/document.h"

#include <vector>

namespace heapsift {

Datum path_data(const WhyPath& path);
Datum steps_data(const std::vector<WhyStep>& steps);

/// The root, and a table of the lines below it; the last one is marked as the object that was asked about.
void say_path(const WhyPath& path, Document& document);
/// The table of a path through garbage.
Block steps_table(const ObjectRow& start, const std::vector<WhyStep>& steps,
                  const std::vector<PathLine>& lines);

}  // namespace heapsift
