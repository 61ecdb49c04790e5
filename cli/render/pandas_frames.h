#pragma once

#include "analysis/pandas_rows.h"
#include "cli/json.h"
#include "cli/page.h"

namespace heapsift {

/// {"object", "kind", "shape" (of a Series one number), "columns", "column_count", "arrays", "nbytes",
/// "kept_bytes"}.
Json frame_json(const FrameRow& row, Redactor& redactor);
/// The same of one that is gone, with {"slices", "kept_by_slices"}; "object" is its block manager.
Json dropped_json(const DroppedRow& row, Redactor& redactor);

/// A table of `rows`, of `count` that there are; a sentence about those that are gone, and a table. Empty
/// where there is none.
std::string frames_text(const std::vector<FrameRow>& rows, std::uint64_t count, const Page& page);
std::string dropped_text(const DroppedFrames& dropped, const Page& page);

}  // namespace heapsift
