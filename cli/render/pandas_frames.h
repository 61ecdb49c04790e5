#pragma once

#include "analysis/pandas_rows.h"
#include "cli/document/document.h"

#include <vector>

namespace heapsift {

/// {"object", "kind", "shape" (a single number for a Series), "columns", "column_count", "arrays", "nbytes",
/// "kept_bytes"}.
Datum frame_data(const PandasFrameRow& row);
/// The same for a frame that is gone, and {"slices", "kept_by_slices"}; "object" is its block manager.
Datum dropped_data(const DroppedRow& row);

/// say_frames: a table of `rows`, `count` of which exist. say_dropped: a sentence about the frames that are
/// gone, and a table. Nothing if there are none.
void say_frames(const std::vector<PandasFrameRow>& rows, std::uint64_t count, Document& document);
void say_dropped(const DroppedFrames& dropped, Document& document);

}  // namespace heapsift
