#pragma once

// What holds memory, in words: for the first screen and the list of suspects.

#include "analysis/top_holder.h"
#include "cli/document/document.h"

namespace heapsift {

/// "the local 'selected' of func(), worker.py, now at line 41", "app.CACHE".
Text holder_words(const TopHolder& holder);
/// "list of 100, in it 100 numpy.ndarray".
Text content_words(const TopHolder& holder);

}  // namespace heapsift
