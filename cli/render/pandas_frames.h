#pragma once

#include "analysis/array_lists.h"
#include "analysis/pandas_frames.h"
#include "cli/json.h"
#include "cli/page.h"

namespace heapsift {

/// {"object", "kind", "shape" (of a Series one number), "columns", "column_count", "arrays", "nbytes",
/// "kept_bytes"}.
Json frame_json(const Arrays& arrays, const PandasFrame& frame, Redactor& redactor);
/// The same of one that is gone, with {"slices", "kept_by_slices"}; "object" is its block manager.
Json dropped_json(const Arrays& arrays, const DroppedFrame& dropped, const std::vector<PandasFrame>& frames,
                  Redactor& redactor);

/// The largest of them by what they keep, in a table; then a sentence about those that are gone. Empty where
/// there is none.
std::string frames_text(const Arrays& arrays, const std::vector<PandasFrame>& frames, const Page& page);
std::string dropped_text(const Arrays& arrays, const std::vector<PandasFrame>& frames,
                         const std::vector<DroppedFrame>& dropped, const Page& page);

/// "DataFrame" of "pandas.core.frame.DataFrame"; ready for a terminal.
std::string short_type(const std::string& name);

}  // namespace heapsift
