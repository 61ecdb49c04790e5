// The version, in a file of its own, so that only this file is recompiled when it changes.

#include "cli/version.h"

namespace heapsift {

std::string version() { return HEAPSIFT_VERSION; }
std::string version_date() { return HEAPSIFT_DATE; }

}  // namespace heapsift
