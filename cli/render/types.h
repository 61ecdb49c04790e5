#pragma once

// The type table, in text and JSON.

#include "analysis/types.h"
#include "cli/answer.h"
#include "parsers/base/diagnostics.h"

namespace heapsift {

/// The answer refers to `result`.
Answer render_types(const TypesResult& result, SortKey sort, Redactor& redactor);

/// The table alone, and the row of JSON: for commands that show types among other things.
std::string types_table(const TypesResult& result, SortKey sort, const Page& page);
Json type_json(const TypeRow& row, Redactor& redactor);
Json types_total_json(const TypesResult& result);

/// What the column says of a row that stands for many objects.
inline constexpr std::string_view retained_legend =
    "retained: what would come free if all objects of the row went away; rows overlap, since the objects of "
    "one hold those of "
    "another";

/// The line below a cut table: how many rows of how many, and what share of the bytes they are.
std::string types_footer(const TypesResult& result, const Page& page);

/// How many objects do not read whole, as damage; nothing where there are none.
void note_damaged_objects(std::uint64_t count, Diagnostics& diagnostics);

/// Tells where a sum of sizes or of memory is more than all that was mapped.
void note_impossible_total(std::uint64_t size, std::uint64_t memory, std::uint64_t mapped,
                           Diagnostics& diagnostics);

/// How many claims to the same memory were settled by rule; nothing where there are none.
void note_overlaps(std::uint64_t count, Diagnostics& diagnostics);

/// Whose sizes are not what sys.getsizeof would have said.
void note_uncertain_sizes(const TypesResult& result, Diagnostics& diagnostics);

}  // namespace heapsift
