#pragma once

#include "analysis/pandas_rows.h"
#include "cli/document/document.h"

#include <vector>

namespace heapsift {

/// {"object", "kind", "shape" (of a Series one number), "columns", "column_count", "arrays", "nbytes", "kept_bytes"}.
Datum frame_data(const PandasFrameRow& row);
/// The same of one that is gone, with {"slices", "kept_by_slices"}; "object" is its block manager.
Datum dropped_data(const DroppedRow& row);

/// A table of `rows`, of `count` that there are; a sentence about those that are gone, and a table. Nothing where there
/// is none.
void say_frames(const std::vector<PandasFrameRow>& rows, std::uint64_t count, Document& document);
void say_dropped(const DroppedFrames& dropped, Document& document);

}  // namespace heapsift
