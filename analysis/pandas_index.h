#pragma once

// An Index, the labels of an axis: how many there are, and what they say.

#include "analysis/pandas_objects.h"

#include <optional>
#include <string>

namespace heapsift {

/// Nothing if its range or arrays cannot be read, or if the labels are not a NumPy array (pyarrow).
std::optional<std::uint64_t> index_length(PandasReader& pandas, ObjectId index);

/// Number of elements along the last axis of an array or an extension array.
std::optional<std::uint64_t> values_length(PandasReader& pandas, ObjectId values);

/// The label at a place as print shows it: a str without quotes and cut at 60 characters, a number,
/// "2024-01-31", "(a, 3)" for a MultiIndex; "?" if it cannot be read. Stored by the program: not escaped, and
/// to be replaced under --redact by the caller.
std::string index_label(PandasReader& pandas, ObjectId index, std::uint64_t place);

}  // namespace heapsift
