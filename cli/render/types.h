#pragma once

// The type table.

#include "analysis/types.h"
#include "cli/document/document.h"
#include "parsers/base/diagnostics.h"

#include <string>

namespace heapsift {

/// `type`: the name that was asked for, or empty, for the command that shows all rows.
Document render_types(TypesResult result, SortKey sort, const std::string& type = {},
                      bool subclasses = false);

/// The table alone and the row of JSON, for commands that show types among other things.
/// `options`: what else was typed, " --type T", for the command that shows all rows.
Block types_table(const std::shared_ptr<const TypesResult>& result, SortKey sort,
                  const std::string& options = {});
Datum type_data(const TypeRow& row);
Datum types_total_data(const TypesResult& result);

/// The meaning of "retained" for a row that stands for many objects.
inline constexpr std::string_view retained_legend =
    "retained: what deleting all objects of the row would free. Rows overlap; do not add them up.";

/// Reports as damage how many objects could not be read whole; nothing if there are none.
void note_damaged_objects(std::uint64_t count, Diagnostics& diagnostics);

/// Warns if the sum of memory exceeds all that was mapped, or that of sizes twice as much: sys.getsizeof of an
/// io.BytesIO counts the bytes that it alone holds, which is an object with a size of its own.
void note_impossible_total(std::uint64_t size, std::uint64_t memory, std::uint64_t mapped,
                           Diagnostics& diagnostics);

/// Reports how many overlapping claims to memory were settled by rule; nothing if there are none.
void note_overlaps(std::uint64_t count, Diagnostics& diagnostics);

/// Names the types whose sizes may differ from sys.getsizeof.
void note_uncertain_sizes(const TypesResult& result, Diagnostics& diagnostics, bool each_type = true);

}  // namespace heapsift
