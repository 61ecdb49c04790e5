#pragma once

#include "analysis/array_row.h"
#include "cli/document/datum.h"
#include "cli/json.h"

namespace heapsift {

/// ARRAY of the contract: what an array has beside an object.
void add_array(Datum& data, const ArrayRow& row);
/// For answers that are no documents yet.
void add_array(Json& json, const ArrayRow& row);

}  // namespace heapsift
