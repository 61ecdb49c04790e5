// The version, in a file of its own: it is the only one that is compiled again when it changes.

#include "cli/version.h"

namespace heapsift {

std::string version() { return HEAPSIFT_VERSION; }

}  // namespace heapsift
