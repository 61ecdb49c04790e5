#pragma once

// How a long pass reports its progress.

#include <functional>
#include <string_view>

namespace heapsift {

/// Called with the name of a pass and its progress from 0 to 1. May be empty.
using ProgressCallback = std::function<void(std::string_view pass, double done)>;

}  // namespace heapsift
