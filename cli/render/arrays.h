#pragma once

#include "analysis/array_holders.h"
#include "analysis/array_lists.h"
#include "analysis/array_waste.h"
#include "analysis/object_paths.h"
#include "analysis/pandas_frames.h"
#include "cli/answer.h"

namespace heapsift {

/// With --pinned so many holders are shown above the owners.
inline constexpr std::size_t most_holders_of_pinned = 5;

struct ArraysResult {
    const Arrays& arrays;
    const RetainedLookup& retained;
    std::vector<std::uint32_t> listed;  // places in `arrays.arrays()`
    std::vector<std::uint32_t> owners;  // places in `arrays.owners()`
    ArrayHolders holders;
    const std::vector<PandasFrame>& frames;
    const std::vector<DroppedFrame>& dropped;
};

struct OwnersResult {
    const Arrays& arrays;
    std::vector<std::uint32_t> owners;  // places in `arrays.owners()`
    std::vector<ArrayPlace> places;     // of these
    ArrayHolders holders;               // of the pinned
    const std::vector<PandasFrame>& frames;
    const std::vector<DroppedFrame>& dropped;
};

/// "func().selected[*]", "app.App.kept[*] (DataFrame)"; ready for a terminal.
std::string held_as_text(const ArrayHolderRow& row);

/// What all of them refer to lives longer than the answer.
Answer render_arrays(const ArraysResult& result, Redactor& redactor);
Answer render_owners(const OwnersResult& result, bool pinned, Redactor& redactor);
Answer render_views(const Arrays& arrays, std::vector<std::uint32_t> listed, Redactor& redactor);
Answer render_array_holders(const Arrays& arrays, const ArrayHolders& holders, bool pinned,
                            const RetainedLookup& retained, Redactor& redactor);
Answer render_array_waste(const HeapReader& heap, const ArrayWasteResult& waste,
                          const ObjectExpressions& expressions, Redactor& redactor);

}  // namespace heapsift
