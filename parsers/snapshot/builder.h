#pragma once

// Finds every live object. (How: builder.cpp.)

#include "parsers/base/diagnostics.h"
#include "parsers/base/progress.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"

namespace heapsift {

FoundObjects find_objects(const CoreFile& core, const ObjectAccess& access, Diagnostics& diagnostics,
                          const ProgressCallback& progress);

}  // namespace heapsift
