#pragma once

// Of the arrays that show an owner's bytes, the one that tables name and that paths are searched for.

#include "analysis/array_table.h"
#include "analysis/holding/root_paths.h"
#include "analysis/pandas_frames.h"

#include <unordered_map>
#include <vector>

namespace heapsift {

using FramesOfArrays = std::unordered_map<ObjectId, const PandasFrame*>;

/// The DataFrame or Series that each array belongs to. The pointers go into `frames`.
FramesOfArrays frames_of_arrays(const std::vector<PandasFrame>& frames);

/// The owner itself if something other than views holds it; else the one of its arrays that is cheapest to
/// reach, or the first if `paths` is null; `no_object` if only bases hold them.
ObjectId in_hand(const ArrayTable& table, const ArrayOwner& owner, const RootPaths* paths);

}  // namespace heapsift
