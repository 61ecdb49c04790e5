#pragma once

// pandas' DataFrames and Series, each as a group: its shape, its columns, and the arrays under it.

#include "parsers/reading/heap_reader.h"

#include <string>
#include <utility>
#include <vector>

namespace heapsift {

struct PandasFrame {
    ObjectId object = no_object;  // of a DroppedFrame: its block manager
    bool series = false;
    std::string type_name;
    std::uint64_t rows = 0, columns = 0;  // of a Series one column
    bool shape_known = false;             // false: an axis did not read, or its length and a block's differ
    /// Labels of the first columns, of a Series its name where that is a str; cut at 60 characters. What the
    /// program stored: not escaped, and to be replaced under --redact.
    std::vector<std::string> column_names;
    std::uint64_t column_count = 0;  // how many column_names there would be
    /// Every array of its values, then of its columns and index with what these have cached, each once; of
    /// those that show the very same bytes the first. An array that owns nothing is there as the view that it
    /// is.
    std::vector<ObjectId> arrays;
    std::vector<ObjectId> value_arrays;  // those of its values: blocks, masks, codes and categories
    std::vector<ObjectId> blocks;        // in the manager's order
    ObjectId manager = no_object;        // `_mgr`
    ObjectId parent = no_object;  // pandas 1.5: the manager of what it was cut from, which it keeps alive
};

/// All instances of DataFrame, Series and their subclasses, by id. `most_names`: column names of one frame.
/// The first block that is met has the graph built.
std::vector<PandasFrame> pandas_frames(const HeapReader& heap, std::size_t most_names);

/// A DataFrame or Series that is gone, of which slices keep the block manager, and with it every block.
struct DroppedFrame {
    PandasFrame frame;  // `object` and `manager` are the manager
    std::vector<std::size_t>
        slices;  // places in `frames` of those that keep it, also by way of a manager in between
    bool kept_by_slices_alone = false;  // all references that its count counts are `parent` of slices
};

/// The managers that frames keep as `parent`, and that no frame has for its own; by id.
std::vector<DroppedFrame> dropped_frames(const HeapReader& heap, const std::vector<PandasFrame>& frames,
                                         std::size_t most_names);

/// The references by which slices keep what is gone: from their managers to those of `dropped`.
std::vector<std::pair<ObjectId, ObjectId>> kept_parents(const std::vector<PandasFrame>& frames,
                                                        const std::vector<DroppedFrame>& dropped);

/// Adds what is gone to `frames`, of which it was found: as if the first of its slices had its arrays, its
/// type "…, gone".
void add_dropped(std::vector<PandasFrame>& frames, const std::vector<DroppedFrame>& dropped);

}  // namespace heapsift
