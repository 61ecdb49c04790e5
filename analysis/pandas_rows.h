#pragma once

// DataFrames and Series as rows: what each shows, what it keeps, and how it is reached.

#include "analysis/array_table.h"
#include "analysis/object_row.h"
#include "analysis/pandas_frames.h"
#include "analysis/path_expression.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

struct FrameRow {
    ObjectRow object;  // of one that is gone: its block manager
    bool series = false;
    std::uint64_t rows = 0, columns = 0;
    bool shape_known = false;
    std::vector<std::string> column_names;  // PandasFrame says which; to be replaced under --redact
    std::uint64_t column_count = 0;
    std::uint64_t arrays = 0;      // of its values, columns and index
    std::uint64_t nbytes = 0;      // that these show, summed
    std::uint64_t kept_bytes = 0;  // kept_by_frame
    PathExpression expression;     // of the largest; its root is empty where it has none
};

struct DroppedRow {
    FrameRow frame;
    std::vector<Address> slices;    // that keep it
    std::uint64_t slices_show = 0;  // bytes, summed
    PathExpression expression;      // of the first slice, of the largest rows
    bool kept_by_slices_alone = false;
};

struct DroppedFrames {
    std::vector<DroppedRow> rows;
    std::uint64_t count = 0, kept_bytes = 0;  // of all that are gone
};

/// With `every`: all of them, by id, without expressions. Else the six that keep most, these first, and one
/// search for paths.
std::vector<FrameRow> frame_rows(const HeapGraph& graph, const ArrayTable& table,
                                 const std::vector<PandasFrame>& frames, bool every);
DroppedFrames dropped_rows(const HeapGraph& graph, const ArrayTable& table,
                           const std::vector<PandasFrame>& frames, const std::vector<DroppedFrame>& dropped,
                           bool every);

}  // namespace heapsift
