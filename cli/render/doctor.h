#pragma once

// What a core holds and what it lacks.

#include "analysis/doctor.h"
#include "cli/document/document.h"
#include "cli/index_place.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// `index`: the core's own, if it has one.
Document render_doctor(const DoctorResult& result, const std::optional<IndexThere>& index = {});

/// --missing: the paths alone, one a line.
Document render_missing(const std::vector<std::string>& paths);

}  // namespace heapsift
