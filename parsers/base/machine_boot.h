#pragma once

// Which start of this machine it is: what is remembered of a process, or of a file's times, holds until the next.

#include <string>

namespace heapsift {

/// The kernel's random name of this boot, 36 characters; "" if it does not tell (no /proc).
std::string machine_boot();

}  // namespace heapsift
