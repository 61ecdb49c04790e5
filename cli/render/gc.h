#pragma once

#include "analysis/gc.h"
#include "cli/answer.h"

namespace heapsift {

/// The answers refer to `result`, and to `heap`.
Answer render_gc(const GcResult& result, Redactor& redactor);
Answer render_gc_list(const HeapReader& heap, const GcResult& result, std::size_t limit, Redactor& redactor);

}  // namespace heapsift
