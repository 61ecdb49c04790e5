#pragma once

// Arrays as `arrays` and `report` read them: the tables once, each row when it is written.

#include "cli/question.h"
#include "cli/render/arrays.h"

#include <memory>

namespace heapsift {

/// What reads the rows of `result`, an answer about the heap of `question`. It keeps both.
ArraysRows rows_of_arrays(const std::shared_ptr<Question>& question,
                          const std::shared_ptr<const ArraysResult>& result);

}  // namespace heapsift
