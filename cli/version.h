#pragma once

// The version of heapsift.

#include <string>

namespace heapsift {

/// "0.1.0"
std::string version();

}  // namespace heapsift
