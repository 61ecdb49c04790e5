#pragma once

// Memory that gdb's gcore could not read, and wrote as zeros.

#include "parsers/base/diagnostics.h"
#include "parsers/elf/core_headers.h"
#include "parsers/elf/core_types.h"

#include <span>
#include <string>

namespace heapsift {

/// Takes the zeros at the ends of segments that hold a thread's stack from `headers.loads`, if they reach over the
/// top of that stack, as bytes that are promised and not there; `diagnostics` is told as damage. Nothing changes for
/// a core that gdb did not write. Cost: a word for each thread, and a look at what is taken.
void leave_out_unread_stacks(const std::string& path, std::span<const CoreThread> threads,
                             CoreHeaders& headers, Diagnostics& diagnostics);

}  // namespace heapsift
