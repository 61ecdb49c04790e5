#pragma once

// The notation of --where: "size>1M,refcount>=3".

#include "analysis/objects.h"

#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

/// FIELD OP NUMBER, joined by commas. FIELD is size, memory, array_data, retained, refcount or block_size; OP
/// is <, <=, =, ==, !=, >= or >. Throws `Error` (exit 2, "bad-where").
std::vector<ObjectCondition> parse_conditions(std::string_view text);

/// What a condition begins with: "size>", "memory>", ….
std::vector<std::string> condition_beginnings();

}  // namespace heapsift
