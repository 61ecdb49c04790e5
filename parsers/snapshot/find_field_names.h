#pragma once

#include "parsers/base/progress.h"
#include "parsers/elf/core_file.h"
#include "parsers/snapshot/field_names.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/object_access.h"

namespace heapsift {

/// What getters written in C tell of the types whose instances are not described; nothing if this machine
/// cannot emulate. Cost: 60 us a getter, 1.5 s at most; a pass over the objects' types.
FieldNames find_field_names(const CoreFile& core, const FoundObjects& objects, const ObjectAccess& access,
                            const ProgressCallback& progress = {});

}  // namespace heapsift
