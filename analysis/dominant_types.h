#pragma once

// The types that make up a heap, by name.

#include "analysis/types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// The names of the types that have a quarter of `total` or more, all types of one name together, in the
/// order of the alphabet; where there is none, the largest.
std::vector<std::string> dominant_types(const std::vector<TypeRow>& types, std::uint64_t total);

}  // namespace heapsift
