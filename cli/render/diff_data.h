#pragma once

// What grew, in the keys of the contract.

#include "analysis/growth/growth.h"
#include "cli/document/document.h"
#include "cli/render/diff_shown.h"

#include <memory>

namespace heapsift {

/// Adds the rows, the other tables and the sums to a document.
void add_diff_data(const std::shared_ptr<const GrowthResult>& result, const DiffShown& shown, Text headline,
                   Document& document);

}  // namespace heapsift
