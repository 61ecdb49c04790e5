#pragma once

// Which heapsift this is.

#include <string>

namespace heapsift {

/// "0.1.0"
std::string version();

}  // namespace heapsift
