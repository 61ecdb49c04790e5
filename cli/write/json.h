#pragma once

// A document as JSON: one document, or a line a row.

#include "cli/document/document.h"
#include "cli/json.h"
#include "cli/redact.h"

#include <functional>
#include <string>
#include <string_view>

namespace heapsift {

/// One line of ASCII, as `json_text` writes it.
std::string json_text(const Datum& datum, Redactor& redactor);

/// All of a document behind `head`, everything but "data". Rows are written as they come: a document of all objects of
/// a large heap does not fit in memory.
void write_json(const Json& head, const Document& document, Redactor& redactor,
                const std::function<void(std::string_view)>& write);

/// A line a row; of what is no table one line.
void write_json_lines(const Document& document, Redactor& redactor,
                      const std::function<void(std::string_view)>& write);

/// Gives the values in `data` their numbers: they have the same in text as in JSON, whatever is written of them.
void number_values(const Datum& data, Redactor& redactor);

}  // namespace heapsift
