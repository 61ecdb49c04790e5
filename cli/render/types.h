#pragma once

// The type table.

#include "analysis/types.h"
#include "cli/document/document.h"
#include "parsers/base/diagnostics.h"

namespace heapsift {

Document render_types(TypesResult result, SortKey sort);

/// The table alone, and the row of JSON: for commands that show types among other things.
Block types_table(const std::shared_ptr<const TypesResult>& result, SortKey sort);
Datum type_data(const TypeRow& row);
Datum types_total_data(const TypesResult& result);

/// What the column says of a row that stands for many objects.
inline constexpr std::string_view retained_legend =
    "retained: what would come free if all objects of the row went away; rows overlap, since the objects of "
    "one hold those of "
    "another";

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
