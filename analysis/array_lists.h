#pragma once

// Lists of single arrays and of owners, and how a person reaches each. Who holds them by attribute is
// array_holders.

#include "analysis/array_table.h"
#include "analysis/pandas_frames.h"
#include "analysis/path_expression.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// How a person reaches an array that shows an owner's bytes, and which that is.
struct ArrayPlace {
    ObjectId example = no_object;
    PathExpression expression;  // its root is empty where it has none
    std::string root;           // "thread MainThread, func(), worker.py, now at line 41"; not escaped
};

enum class OwnerChoice { all, pinned };

/// Places in `table.owners`, largest first: by bytes, of the pinned by those that nobody sees; ties by
/// address. `limit` 0: all.
std::vector<std::uint32_t> list_owners(const ArrayTable& table, OwnerChoice choice, std::size_t limit);

/// Places in `table.arrays`, by nbytes, then by address; no scalars. `views`: only those that own nothing.
std::vector<std::uint32_t> list_arrays(const ArrayTable& table, bool views, std::size_t limit);

/// Of each owner: how one of its arrays is reached that is in hand, or the owner; of an array of a DataFrame
/// or a Series how that is. One search for all of them.
std::vector<ArrayPlace> places_of(const HeapGraph& graph, const ArrayTable& table,
                                  const std::vector<PandasFrame>& frames,
                                  const std::vector<std::uint32_t>& owners,
                                  const ProgressCallback& progress = {});

/// A DataFrame or Series with what its arrays keep: the owners of its values, index and columns, each once.
std::uint64_t kept_by_frame(const ArrayTable& table, const PandasFrame& frame);

}  // namespace heapsift
