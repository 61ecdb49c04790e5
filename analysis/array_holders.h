#pragma once

// Who holds the arrays, in rows by holder and attribute: what they show, what they keep, and the one
// dominator they share.

#include "analysis/array_table.h"
#include "analysis/holding/retained.h"
#include "analysis/object_row.h"
#include "analysis/pandas_frames.h"
#include "analysis/path_expression.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// Arrays that are held in one way (HolderRow says what that is). Arrays that only a base holds count with
/// the array whose base they are; arrays of a DataFrame or a Series are held as that is.
struct ArrayHolderRow {
    std::string holder, attribute;  // "app.Node", "hActs1"; "func()", "selected[*]". Not escaped
    bool joined = false;            // no dot stands between them
    bool of_frame = false;          // the holder is a function that runs, the attribute has a name
    // "pandas.core.frame.DataFrame", where it is such a one that is held there. Not escaped
    std::string frame_type;
    std::string expression;  // the path to one of them, its indices as [*]. Not escaped
    std::string root;        // where that path begins: "thread MainThread, func(), worker.py, now at line 41"
    std::string frame;  // "func(), worker.py, now at line 41", where it is one that it begins in; not escaped
    std::string local;  // and the local
    ObjectId example = no_object;
    Address example_address;
    std::uint64_t arrays = 0;       // in hand
    std::uint64_t shown_bytes = 0;  // that they show; each byte once
    std::uint64_t nbytes = 0;       // that they show, summed
    std::uint64_t kept_bytes = 0;   // of the owners that they keep; an owner is in one row
    std::uint64_t pinned_arrays = 0, pinned_owners = 0;  // arrays of pinned owners, and these
    std::uint64_t pinned_bytes = 0;                      // their bytes
    std::uint64_t pinned_visible = 0;                    // of these, seen
    std::uint64_t unseen_bytes() const { return pinned_bytes - pinned_visible; }
    // the nearest node without which none of them would be reachable; of rows that are given
    std::optional<NodeId> dominator;
    Address dominator_address;    // where that is an object
    std::string dominator_words;  // else: "func(), worker.py, now at line 41", "numpy"; not escaped
};

struct ArrayHolders {
    std::vector<ArrayHolderRow> rows;  // by kept_bytes, then nbytes, cut to the limit
    std::uint64_t total_rows = 0, total_arrays = 0;
    std::uint64_t without_path = 0;  // arrays that no root reaches
};

/// With `only_pinned` of arrays of pinned owners alone, by unseen bytes. Dominators where `retained` is
/// given.
ArrayHolders array_holders(const HeapGraph& graph, const ArrayTable& table,
                           const std::vector<PandasFrame>& frames, bool only_pinned, std::size_t limit,
                           const RetainedLookup* retained, const ProgressCallback& progress = {});

/// What several rows hang below: without it all of their arrays would go.
struct CommonHolder {
    std::uint64_t rows = 0;
    std::string words;                // of a frame, ArrayHolderRow::dominator_words
    std::optional<ObjectRow> object;  // nothing: a frame
    PathExpression expression;        // of an object; its root is empty where it has none
    std::uint64_t retained = 0;       // bytes
};

/// Of the first `shown` rows (0: of all), which have dominators; that with most rows. Nothing where no object
/// and no frame has two. One search for paths.
std::optional<CommonHolder> common_holder(const RetainedLookup& retained, const ArrayHolders& holders,
                                          std::size_t shown);

}  // namespace heapsift
