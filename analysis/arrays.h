#pragma once

// The arrays of a heap, as the command shows them: sums, owners, views, holders, and what could be smaller.

#include "analysis/array_holders.h"
#include "analysis/array_lists.h"
#include "analysis/array_row.h"
#include "analysis/array_waste.h"
#include "analysis/object_row.h"
#include "analysis/pandas_rows.h"
#include "analysis/work.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct ArraysQuery {
    enum class Table : std::uint8_t { summary, owners, views, holders, waste } table = Table::summary;
    bool only_pinned = false;  // of owners or holders those that only views keep
    std::size_t rows = 20;     // of each table; 0: all
    bool every_frame = false;  // all DataFrames and Series, by id; else the few that keep most, these first
};

/// Of the holders of pinned owners so many are found beside the owners; of all holders so many are shown in
/// the summary.
inline constexpr std::size_t most_holders_of_pinned = 5, most_holders_in_summary = 10;

/// Owners of one sort, summed.
struct ArrayOwnerSort {
    std::string name;  // "arrays that own their elements", "native memory, lent by C code", a type's name
    std::uint64_t owners = 0, bytes = 0, views = 0;
};

/// An array that would do with fewer bytes.
struct ArrayWasteRow {
    ArrayWaste waste;
    ObjectRow object;
    PathExpression expression;  // its root is empty where it has none
};

struct ArraysResult {
    ArraysQuery query;
    ArrayTable table;
    std::vector<std::uint32_t> arrays;   // of the summary, and the views: places in `table.arrays`
    std::vector<std::uint32_t> owners;   // of the summary, and of the owners: places in `table.owners`
    std::vector<ArrayPlace> places;      // of the owners, where they were asked for
    std::vector<ArrayOwnerSort> sorts;   // of the summary, largest first
    ArrayHolders holders;                // of the summary, of pinned owners, or asked for
    std::optional<CommonHolder> common;  // of holders that are shown
    std::vector<FrameRow> frames;        // of the summary
    std::uint64_t frame_count = 0;       // there are, given or not
    DroppedFrames dropped;               // of the summary and of pinned owners
    ArrayWasteResult waste;              // without its rows
    std::vector<ArrayWasteRow> waste_rows;
};

/// Nothing but a look at the types where there is no NumPy. Holders have retained sizes computed, and the
/// cheapest paths; waste reads the arrays' data.
ArraysResult arrays(Work& work, const ArraysQuery& query);

/// An owner as a table names it.
struct ArrayOwnerRow {
    ArrayOwner owner;
    Address address;                  // its own; of native memory that of the array it was lent to
    std::optional<ObjectRow> object;  // nothing: native memory
    bool is_array = false;            // it is an array that owns its elements
    ArrayPlace place;                 // where places were asked for
    std::optional<Address> example;   // of ArrayPlace::example
};

/// An array with the owner of its bytes.
struct ShownArray {
    ObjectRow object;
    ArrayRow array;
    std::uint64_t nbytes = 0;  // SeenArray::nbytes
    ArrayOwnerRow owner;
};

/// Rows are made one by one: of a million arrays all at once would be larger than these. `at`: a place in
/// `result.owners`, in `result.arrays`.
ArrayOwnerRow array_owner_row(const HeapReader& heap, const ArraysResult& result, std::size_t at);
ShownArray shown_array(const HeapReader& heap, const ArraysResult& result, std::size_t at);

}  // namespace heapsift
