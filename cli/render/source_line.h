#pragma once

// Where a block was allocated, in words and as data.

#include "analysis/source_line.h"
#include "cli/document/document.h"
#include "cli/document/fields.h"

#include <optional>
#include <vector>

namespace heapsift {

/// "app.py:12"; the number is left out where it is unknown.
Text line_words(const SourceLine& line);
/// "app.py:12, called from run.py:9, main.py:3": the most recent call, given as the last one, comes first.
Text allocated_words(const std::vector<SourceLine>& calls);
/// [{"file", "line"}], in the order given.
Datum calls_data(const std::vector<SourceLine>& calls);
/// The fields "file" and "line", null where they are unknown.
void add_line(Fields& fields, const std::optional<SourceLine>& line);
/// The words, or none.
Text line_or_blank(const std::optional<SourceLine>& line);

}  // namespace heapsift
