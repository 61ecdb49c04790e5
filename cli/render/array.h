#pragma once

#include "analysis/array_row.h"
#include "cli/document/datum.h"

namespace heapsift {

/// ARRAY of the contract: what an array has in addition to OBJECT.
void add_array(Datum& data, const ArrayRow& row);

}  // namespace heapsift
