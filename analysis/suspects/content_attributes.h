#pragma once

// Attributes that a program puts onto objects after these were made, where most of a holder's memory hangs on them.

#include "analysis/suspects/code_that_names.h"
#include "analysis/suspects/scene.h"
#include "analysis/suspects/suspect.h"

#include <optional>

namespace heapsift {

/// Of a sample of what the holder keeps, the attributes of one class of the program by which at least half of its bytes
/// hang, and which a function sets that does not run only once, and makes none of them: activations on the nodes of a tree.
/// Nothing where instances of that class are few. Cost: a look at some four thousand objects, and the instructions of the
/// functions that name one of these attributes; if no sample is kept, one at all that the holder dominates.
std::optional<AttributesSetLater> attributes_set_later(const RetainedLookup& retained, const Scene& scene,
                                                       const CodeThatNames& code);

}  // namespace heapsift
