#pragma once

// What a core holds and what it lacks.

#include "analysis/doctor.h"
#include "cli/document/document.h"

#include <string>
#include <vector>

namespace heapsift {

Document render_doctor(const DoctorResult& result);

/// --missing: the paths alone, one a line.
Document render_missing(const std::vector<std::string>& paths);

}  // namespace heapsift
