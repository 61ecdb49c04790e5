#pragma once

// Threads and their Python stacks, in text and JSON.

#include "analysis/threads.h"
#include "cli/answer.h"

namespace heapsift {

/// The answer refers to `result`.
Answer render_threads(const ThreadsResult& result, Redactor& redactor);

}  // namespace heapsift
