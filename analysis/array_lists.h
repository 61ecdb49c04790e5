#pragma once

// Lists of single arrays and of owners, and how each is reached. (Who holds them, by attribute:
// array_holders.)

#include "analysis/array_table.h"
#include "analysis/kept_answers.h"
#include "analysis/pandas_frames.h"
#include "analysis/path_expression.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// An array that shows an owner's bytes, and the path to it.
struct ArrayPlace {
    ObjectId example = no_object;
    PathExpression expression;  // its root is empty if no path was found
    std::string root;           // "thread MainThread, func(), worker.py, now at line 41"; not escaped
};

enum class OwnerChoice { all, pinned };

/// Indices into `table.owners`, largest first: by bytes, or by unseen bytes for pinned owners; ties by
/// address. `limit` 0: all.
std::vector<std::uint32_t> list_owners(const ArrayTable& table, OwnerChoice choice, std::size_t limit);

/// Indices into `table.arrays`, by nbytes, then address; no scalars. `views`: only arrays that own nothing.
/// `limit` 0: all.
std::vector<std::uint32_t> list_arrays(const ArrayTable& table, bool views, std::size_t limit);

/// For each owner, the path to one of its arrays that is held directly, or to the owner itself; for an array
/// of a DataFrame or Series, the path to that. One search for all of them.
std::vector<ArrayPlace> places_of(const HeapGraph& graph, const ArrayTable& table,
                                  const std::vector<PandasFrame>& frames,
                                  const std::vector<std::uint32_t>& owners,
                                  const ProgressCallback& progress = {}, KeptAnswers* answers = nullptr);
/// The same of places that have their examples.
void express(std::vector<ArrayPlace>& places, const HeapGraph& graph, const ProgressCallback& progress,
             KeptAnswers* answers);

/// Bytes that a DataFrame or Series keeps alive: the owners of its values, index and columns, each once.
std::uint64_t kept_by_frame(const ArrayTable& table, const PandasFrame& frame);

}  // namespace heapsift
