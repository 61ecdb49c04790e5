#pragma once

// The names of the types that make up most of a heap.

#include "analysis/types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// The names of the types that have a quarter of `total` or more, in alphabetical order; if there is none,
/// the largest. Types of one name count together.
std::vector<std::string> dominant_types(const std::vector<TypeRow>& types, std::uint64_t total);

}  // namespace heapsift
