#pragma once

// What a core holds and lacks.

#include "analysis/doctor.h"
#include "cli/document/document.h"

#include <string>
#include <vector>

namespace heapsift {

Document render_doctor(const DoctorResult& result);

/// --missing: paths only, a line each.
Document render_missing(const std::vector<std::string>& paths);

}  // namespace heapsift
