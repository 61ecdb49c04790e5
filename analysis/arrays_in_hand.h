#pragma once

// The array by which a person has hold of an owner's bytes: what tables of arrays name and search a path to.

#include "analysis/array_table.h"
#include "analysis/holding/root_paths.h"
#include "analysis/pandas_frames.h"

#include <unordered_map>
#include <vector>

namespace heapsift {

using FramesOfArrays = std::unordered_map<ObjectId, const PandasFrame*>;

/// The DataFrame or Series that each array belongs to. Points into `frames`.
FramesOfArrays frames_of_arrays(const std::vector<PandasFrame>& frames);

/// The owner itself where something other than views holds it; else the array of it that is cheapest to
/// reach, without `paths` the first; `no_object` where bases alone hold all of them.
ObjectId in_hand(const ArrayTable& table, const ArrayOwner& owner, const RootPaths* paths);

}  // namespace heapsift
