#pragma once

// How a pass that takes long says how far it is.

#include <functional>
#include <string_view>

namespace heapsift {

/// Called with the name of a pass and its progress from 0 to 1. May be empty.
using ProgressCallback = std::function<void(std::string_view pass, double done)>;

}  // namespace heapsift
