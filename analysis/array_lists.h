#pragma once

// Tables of arrays: their owners, who holds them, in a person's words.

#include "analysis/array_row.h"
#include "analysis/arrays.h"
#include "analysis/graph/retained.h"
#include "analysis/object_row.h"
#include "analysis/pandas_frames.h"
#include "analysis/path_expression.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// Of an owner that an array of which `example` is shows, how a person reaches that array.
struct ArrayPlace {
    ObjectId example = no_object;
    PathExpression expression;  // its root is empty where it has none
    std::string root;           // "thread MainThread, func(), worker.py, now at line 41"; not escaped
};

enum class OwnerChoice { all, pinned };

/// Places in `arrays.owners()`, largest first: by bytes, of the pinned by those that nobody sees; ties by address. `limit` 0:
/// all.
std::vector<std::uint32_t> list_owners(const Arrays& arrays, OwnerChoice choice, std::size_t limit);

/// Places in `arrays.arrays()`, by nbytes, then by address; no scalars. `views`: only those that own nothing.
std::vector<std::uint32_t> list_arrays(const Arrays& arrays, bool views, std::size_t limit);

/// Of each owner: how one of its arrays is reached that is in hand, or the owner; of an array of a DataFrame or a Series how that
/// is. One search for all of them.
std::vector<ArrayPlace> places_of(const Arrays& arrays, const std::vector<PandasFrame>& frames,
                                  const std::vector<std::uint32_t>& owners, const ProgressCallback& progress = {});

/// Arrays that are held in one way (HolderRow says what that is). Arrays that only a base holds count with the array whose base
/// they are; arrays of a DataFrame or a Series are held as that is.
struct ArrayHolderRow {
    std::string holder, attribute;  // "app.Node", "hActs1"; "func()", "selected[*]". Not escaped
    std::string frame_type;         // "pandas.core.frame.DataFrame", where it is such a one that is held there. Not escaped
    std::string expression;         // the path to one of them, its indices as [*]. Not escaped
    std::string root;               // where that path begins: "thread MainThread, func(), worker.py, now at line 41"
    std::string frame;              // "func(), worker.py, now at line 41", where it is one that it begins in; not escaped
    std::string local;              // and the local
    ObjectId example = no_object;
    Address example_address;
    std::uint64_t arrays = 0;                            // in hand
    std::uint64_t shown_bytes = 0;                       // that they show; each byte once
    std::uint64_t nbytes = 0;                            // that they show, summed
    std::uint64_t kept_bytes = 0;                        // of the owners that they keep; an owner is in one row
    std::uint64_t pinned_arrays = 0, pinned_owners = 0;  // arrays of pinned owners, and these
    std::uint64_t pinned_bytes = 0;                      // their bytes
    std::uint64_t pinned_visible = 0;                    // of these, seen
    std::uint64_t unseen_bytes() const { return pinned_bytes - pinned_visible; }
    std::optional<NodeId> dominator;  // the nearest node without which none of them would be reachable; of rows that are given
};

struct ArrayHolders {
    std::vector<ArrayHolderRow> rows;  // by kept_bytes, then nbytes, cut to the limit
    std::uint64_t total_rows = 0, total_arrays = 0;
    std::uint64_t without_path = 0;  // arrays that no root reaches
};

/// With `only_pinned` of arrays of pinned owners alone, by unseen bytes. Dominators where `retained` is given.
ArrayHolders array_holders(const Arrays& arrays, const std::vector<PandasFrame>& frames, bool only_pinned, std::size_t limit,
                           const RetainedSizes* retained, const ProgressCallback& progress = {});

/// A DataFrame or Series with what its arrays keep: the owners of its values, index and columns, each once.
std::uint64_t kept_by_frame(const Arrays& arrays, const PandasFrame& frame);

}  // namespace heapsift
