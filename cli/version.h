#pragma once

// The version of heapsift.

#include <string>

namespace heapsift {

/// "0.1.0"
std::string version();

/// The day of this version, "2026-11-27": for the manual, which is the same whenever it is made.
std::string version_date();

}  // namespace heapsift
