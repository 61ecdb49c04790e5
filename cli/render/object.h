#pragma once

// OBJECT of the contract, and what tables say of an object.

#include "analysis/object_row.h"
#include "analysis/path_expression.h"
#include "cli/document/document.h"

#include <cstdint>
#include <optional>

namespace heapsift {

/// OBJECT.
Datum object_data(const ObjectRow& object);

/// Its value; with its type before it.
Value value_of(const ObjectRow& object);
Value typed_value(const ObjectRow& object);
/// "12", or "immortal".
Text references_counted(const ObjectFacts& facts);
/// Bytes of array data, or nothing.
Text array_data_bytes(std::uint64_t bytes);
/// Bytes where they are known.
Text bytes_or_blank(const std::optional<std::uint64_t>& bytes);
/// "app.CACHE['k'][3]", from what can be typed on.
Expression expression_of(const PathExpression& path);

/// Columns that several tables have.
TextColumn right(Text heading, bool sorted = false);
TextColumn left(Text heading, TextColumn::Fit fit = TextColumn::Fit::whole);

const char* name_of(ReferenceKind kind);
const char* name_of(ObjectState state);

/// The word that stands for "all rows" in a hint: " -n 0".
inline constexpr const char* all_rows = " -n 0";

}  // namespace heapsift
