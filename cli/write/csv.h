#pragma once

// The rows of a document as CSV (RFC 4180).

#include "cli/document/document.h"
#include "cli/redact.h"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// One line with the given keys of a row. Numbers and text are unchanged, null is empty, an OBJECT becomes
/// its address. Text is escaped for the terminal, and quoted if needed.
std::string csv_line(const Datum& row, const std::vector<std::string>& keys, Redactor& redactor);

/// A line of headings, and one line for each row.
void write_csv(const Document& document, Redactor& redactor,
               const std::function<void(std::string_view)>& write);

}  // namespace heapsift
