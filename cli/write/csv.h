#pragma once

// The rows of a document as CSV (RFC 4180).

#include "cli/document/document.h"
#include "cli/redact.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// One line of the given keys of a row: numbers and text as they are, null empty, an OBJECT as its address; text is
/// escaped for the terminal, and quoted where it must be.
std::string csv_line(const Datum& row, const std::vector<std::string>& keys, Redactor& redactor);

/// A heading, and a line a row.
void write_csv(const Document& document, Redactor& redactor,
               const std::function<void(std::string_view)>& write);

}  // namespace heapsift
