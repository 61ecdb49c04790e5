#pragma once

// Where the files of a living process lie, for another process.

#include <cstdint>
#include <string>

namespace heapsift {

/// "/proc/1234/root", if the process sees other files than this one (a container, a chroot, a mount
/// namespace); else "", since its paths are ours. `proc` is another place in tests.
std::string process_root(std::int32_t pid, const std::string& proc = "/proc");

}  // namespace heapsift
