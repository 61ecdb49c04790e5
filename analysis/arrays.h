#pragma once

// The arrays of a heap, as `heapsift arrays` shows them: totals, owners, views, holders, and what could be
// smaller.

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
    bool only_pinned = false;  // for owners or holders: only those kept by views alone
    std::size_t rows = 20;     // of each table; 0: all
    bool every_frame = false;  // all DataFrames and Series, by id; else the few that keep most, largest first
};

/// How many holders are found with a list of pinned owners, and how many of all holders the summary shows.
inline constexpr std::size_t most_holders_of_pinned = 5, most_holders_in_summary = 10;

/// Owners of one sort, summed.
struct ArrayOwnerSort {
    enum class Kind : std::uint8_t { native, array, exporter, storage } kind = Kind::native;
    TypeId type = no_type;  // of exporters
    std::string name;  // "arrays that own their elements", "native memory, lent by C code", a type's name;
                       // "torch storages, shown by tensors"
    std::uint64_t owners = 0, bytes = 0, views = 0;
};

/// An array that could be stored in fewer bytes.
struct ArrayWasteRow {
    ArrayWaste waste;
    ObjectRow object;
    PathExpression expression;  // its root is empty if no path was found
};

struct ArraysResult {
    ArraysQuery query;
    ArrayTable table;
    std::vector<std::uint32_t> arrays;   // for summary and views: indices into `table.arrays`
    std::vector<std::uint32_t> owners;   // for summary and owners: indices into `table.owners`
    std::vector<ArrayPlace> places;      // for owners
    std::vector<ArrayOwnerSort> sorts;   // for the summary; largest first
    ArrayHolders holders;                // for the summary, for pinned owners, and for holders
    std::optional<CommonHolder> common;  // of the holders that are shown
    std::vector<PandasFrameRow> frames;  // for the summary
    std::uint64_t frame_count = 0;       // all, whether in `frames` or not
    DroppedFrames dropped;               // for the summary and for pinned owners
    ArrayWasteResult waste;              // without its rows
    std::vector<ArrayWasteRow> waste_rows;
};

/// Without NumPy it only looks at the types. Holders need retained sizes and cheapest paths; waste reads the
/// arrays' data.
ArraysResult arrays(Work& work, const ArraysQuery& query);

/// An owner as a table names it.
struct ArrayOwnerRow {
    ArrayOwner owner;
    Address address;                  // its own; of native memory that of the array it was lent to
    std::optional<ObjectRow> object;  // nothing for native memory
    bool is_array = false;            // it is an array that owns its elements
    ArrayPlace place;                 // if the result has places
    std::optional<Address> example;   // of ArrayPlace::example
};

/// An array, and the owner of its bytes.
struct ShownArray {
    ObjectRow object;
    ArrayRow array;
    std::uint64_t nbytes = 0;  // SeenArray::nbytes
    ArrayOwnerRow owner;
};

/// Rows are made one by one: a million rows at once would take more memory than the results they come from.
/// `at`: an index into `result.owners`, and into `result.arrays`.
ArrayOwnerRow array_owner_row(const HeapReader& heap, const ArraysResult& result, std::size_t at);
ShownArray shown_array(const HeapReader& heap, const ArraysResult& result, std::size_t at);

}  // namespace heapsift
