#pragma once

// OBJECT of the contract, and how an object looks in a line of text.

#include "analysis/object_row.h"
#include "analysis/path_expression.h"
#include "cli/document/document.h"
#include "cli/json.h"
#include "cli/page.h"

#include <string>

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

// --- for answers that are no documents yet

Json object_json(const ObjectRow& object, Redactor& redactor);
Json value_json(const ShortValue& value, const std::string& type, Redactor& redactor);

std::string name_of(ReferenceKind kind);
std::string name_of(ObjectState state);

/// A type's name, a value, the name of a reference, ready for a terminal.
std::string type_text(const std::string& type);
std::string value_text(const ObjectRow& object, Redactor& redactor);
std::string reference_text(const ReferenceStep& step, Redactor& redactor);
/// "12", or "immortal".
std::string refcount_text(const ObjectFacts& facts);
/// Bytes of array data, "–" for none.
std::string array_data_text(std::uint64_t bytes, const Page& page);

/// A heading with the mark of the column that is sorted by.
std::string sorted_heading(const std::string& heading, bool sorted);

/// "next: heapsift words… CORE    remark", ended. The command is never broken, since it is to be copied.
std::string next_line(const Page& page, const std::string& words, const std::string& remark = {});

/// The word that stands for "all rows" in a hint: " -n 0".
inline constexpr const char* all_rows = " -n 0";

}  // namespace heapsift
