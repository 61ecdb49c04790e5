#pragma once

// An Index, the labels of an axis: how many there are, and what they say.

#include "analysis/pandas_objects.h"

#include <optional>
#include <string>

namespace heapsift {

/// Nothing where its range or arrays do not read, or where the labels are no NumPy array (pyarrow).
std::optional<std::uint64_t> index_length(PandasReader& pandas, ObjectId index);

/// Elements along the last axis of an array or an extension array.
std::optional<std::uint64_t> values_length(PandasReader& pandas, ObjectId values);

/// The label at a place as print shows it: a str without quotes and cut at 60 characters, a number,
/// "2024-01-31", "(a, 3)" of a MultiIndex; "?" where it does not read. What the program stored: not escaped,
/// and replaced under --redact by whoever shows it.
std::string index_label(PandasReader& pandas, ObjectId index, std::uint64_t place);

}  // namespace heapsift
