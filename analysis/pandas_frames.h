#pragma once

// pandas DataFrames and Series, each as a group: its shape, its columns, and the arrays it consists of.

#include "parsers/reading/heap_reader.h"

#include <string>
#include <utility>
#include <vector>

namespace heapsift {

struct PandasFrame {
    ObjectId object = no_object;  // for a DroppedFrame: its block manager
    bool series = false;
    std::string type_name;
    std::uint64_t rows = 0, columns = 0;  // a Series has one column
    bool shape_known = false;             // false: an axis cannot be read, or contradicts a block's length
    /// Labels of the first columns; for a Series its name, if that is a str. Cut at 60 characters. Stored by
    /// the program: not escaped, and to be replaced under --redact.
    std::vector<std::string> column_names;
    std::uint64_t column_count = 0;  // the number of column_names without the limit
    /// Every array of its values, then of its columns and index with what these have cached, each once; of
    /// arrays that show exactly the same bytes only the first. An array that owns nothing is listed as the
    /// view that it is.
    std::vector<ObjectId> arrays;
    std::vector<ObjectId> value_arrays;  // those of its values: blocks, masks, codes and categories
    std::vector<ObjectId> blocks;        // in the manager's order
    ObjectId manager = no_object;        // `_mgr`
    ObjectId parent = no_object;  // pandas 1.5: the manager of what it was cut from, which it keeps alive
};

/// All instances of DataFrame, Series and their subclasses, by id. `most_names`: column names per frame, at
/// most. Computes the heap's references when it meets the first block.
std::vector<PandasFrame> pandas_frames(const HeapReader& heap, std::size_t most_names);

/// A DataFrame or Series that is gone, but whose block manager, and with it every block, is kept alive by
/// slices.
struct DroppedFrame {
    PandasFrame frame;  // `object` and `manager` are the manager
    // indices into `frames` of those that keep it, directly or through another manager
    std::vector<std::size_t> slices;
    bool kept_by_slices_alone = false;  // every reference counted for it is the `parent` of a slice
};

/// The managers that frames keep as `parent`, and that are not a frame's own manager; by id.
std::vector<DroppedFrame> dropped_frames(const HeapReader& heap, const std::vector<PandasFrame>& frames,
                                         std::size_t most_names);

/// The references by which slices keep what is gone: from their managers to those of `dropped`.
std::vector<std::pair<ObjectId, ObjectId>> kept_parents(const std::vector<PandasFrame>& frames,
                                                        const std::vector<DroppedFrame>& dropped);

/// Adds what is gone to the `frames` in which it was found: as if the first of its slices owned its arrays;
/// its type is "…, gone".
void add_dropped(std::vector<PandasFrame>& frames, const std::vector<DroppedFrame>& dropped);

}  // namespace heapsift
