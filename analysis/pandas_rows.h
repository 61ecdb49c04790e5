#pragma once

// DataFrames and Series as rows: what each shows, what it keeps alive, and how it is reached.

#include "analysis/array_table.h"
#include "analysis/object_row.h"
#include "analysis/pandas_frames.h"
#include "analysis/path_expression.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct PandasFrameRow {
    ObjectRow object;  // for one that is gone: its block manager
    bool series = false;
    std::uint64_t rows = 0, columns = 0;
    bool shape_known = false;
    std::vector<std::string> column_names;  // see PandasFrame::column_names; to be replaced under --redact
    std::uint64_t column_count = 0;
    std::uint64_t arrays = 0;      // of its values, columns and index
    std::uint64_t nbytes = 0;      // shown by these, summed
    std::uint64_t kept_bytes = 0;  // kept_by_frame
    PathExpression expression;     // only for the largest; its root is empty if no path was found
};

struct DroppedRow {
    PandasFrameRow frame;
    std::vector<Address> slices;    // those that keep it
    std::uint64_t slices_show = 0;  // bytes, summed
    PathExpression expression;      // of the first slice; only for the largest rows
    bool kept_by_slices_alone = false;
};

struct DroppedFrames {
    std::vector<DroppedRow> rows;
    std::uint64_t count = 0, kept_bytes = 0;  // of all that are gone
};

/// With `every`: all of them, by id, without expressions. Otherwise the six that keep most alive, largest
/// first, with one search for paths.
std::vector<PandasFrameRow> frame_rows(const HeapGraph& graph, const ArrayTable& table,
                                       const std::vector<PandasFrame>& frames, bool every);
DroppedFrames dropped_rows(const HeapGraph& graph, const ArrayTable& table,
                           const std::vector<PandasFrame>& frames, const std::vector<DroppedFrame>& dropped,
                           bool every);

}  // namespace heapsift
