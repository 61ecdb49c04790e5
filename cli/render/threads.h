#pragma once

// Threads and their Python stacks.

#include "analysis/threads.h"
#include "cli/document/document.h"

namespace heapsift {

Document render_threads(ThreadsResult result);

}  // namespace heapsift
