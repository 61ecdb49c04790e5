#pragma once

// What holds memory, in words: for the first screen and the list of suspects.

#include "analysis/top_holders.h"
#include "cli/document/document.h"

namespace heapsift {

/// "the local 'selected' of func(), worker.py, now at line 41", "app.CACHE".
Text holder_words(const TopHolder& holder);
/// "5,000 functions", "1 dict"; as a class is named where that is no English noun: "500 ValueError", "3 str".
Text how_many_of(const std::string& type, std::uint64_t count);
/// "list of 100, in it 100 numpy.ndarray".
Text content_words(const TopHolder& holder);

}  // namespace heapsift
