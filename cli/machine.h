#pragma once

// What this machine has to offer to work that can be done side by side.

#include <cstddef>
#include <cstdint>
#include <optional>

namespace heapsift {

/// Processors that this process may run on; at least 1.
std::size_t available_processors();

/// Bytes that can still be had without swapping, a limit of the control group counted in. Nothing where the
/// kernel does not tell.
std::optional<std::uint64_t> available_memory();

}  // namespace heapsift
