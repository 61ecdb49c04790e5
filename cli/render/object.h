#pragma once

// OBJECT of the contract, and the cells of tables about an object.

#include "analysis/object_row.h"
#include "analysis/path_expression.h"
#include "cli/document/document.h"

#include <cstdint>
#include <optional>

namespace heapsift {

/// OBJECT of the contract.
Datum object_data(const ObjectRow& object);
/// The same fields of it.
void add_object(Fields& fields, const ObjectRow& object);

/// Its value; the second with its type before it.
Value value_of(const ObjectRow& object);
Value typed_value(const ObjectRow& object);
/// "5,000 functions", "1 dict"; as a class is named where that is no English noun: "500 ValueError", "3 str".
Text how_many_of(const std::string& type, std::uint64_t count);
/// The name of a type behind a number: "Entry"; "bytes objects", which is no size.
Text type_words(const std::string& type, std::uint64_t count);
/// Its reference count: "12", or "immortal".
Text references_counted(const ObjectFacts& facts);
/// Bytes of array data; empty for 0.
Text array_data_bytes(std::uint64_t bytes);
/// Bytes; empty if unknown.
Text bytes_or_blank(const std::optional<std::uint64_t>& bytes);
/// "app.CACHE['k'][3]"; empty if the path cannot be typed.
Expression expression_of(const PathExpression& path);

/// Columns that several tables share.
TextColumn right(Text heading, bool sorted = false);
TextColumn left(Text heading, TextColumn::Fit fit = TextColumn::Fit::whole);

const char* name_of(ReferenceKind kind);
const char* name_of(ObjectState state);

/// What a hint adds to show all rows: " -n 0".
inline constexpr const char* all_rows = " -n 0";

}  // namespace heapsift
