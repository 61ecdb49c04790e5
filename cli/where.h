#pragma once

// The notation of --where: "size>1M,refcount>=3".

#include "analysis/objects.h"

#include <string_view>
#include <vector>

namespace heapsift {

/// FIELD OP NUMBER, joined by commas; FIELD one of size, memory, array_data, retained, refcount, block_size;
/// OP one of < <= = == != >= >. Throws `Error` (exit 2, "bad-where").
std::vector<ObjectCondition> parse_conditions(std::string_view text);

}  // namespace heapsift
