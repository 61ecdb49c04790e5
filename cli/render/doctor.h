#pragma once

// What a core holds and lacks, in text and JSON.

#include "analysis/doctor.h"
#include "cli/answer.h"

#include <string>
#include <vector>

namespace heapsift {

/// The answer refers to `result`.
Answer render_doctor(const DoctorResult& result, Redactor& redactor);

/// --missing: paths only, a line each.
Answer render_missing(const std::vector<std::string>& paths, Redactor& redactor);

}  // namespace heapsift
