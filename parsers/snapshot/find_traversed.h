#pragma once

#include "parsers/base/progress.h"
#include "parsers/elf/core_file.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/traversed.h"

namespace heapsift {

/// What objects report whose references `access` would have to guess; nothing if this machine cannot emulate.
/// Cost: 40 ns an object of those types where it can be learned, 2 us where not, and 1 ms a type.
TraversedReferences find_traversed(const CoreFile& core, const FoundObjects& objects,
                                   const ObjectAccess& access, const ProgressCallback& progress = {});

}  // namespace heapsift
