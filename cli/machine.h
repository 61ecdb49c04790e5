#pragma once

// The processors and the memory that parallel work may use.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace heapsift {

/// Processors that this process may run on, within the share of its control group; at least 1.
std::size_t available_processors();

/// Bytes that can still be had without swapping, within the limit of the control group. Nothing if the kernel
/// does not tell.
std::optional<std::uint64_t> available_memory();

/// heapsift's own folder in the one that the variable names (XDG_CACHE_HOME, XDG_STATE_HOME), else in
/// `beside` of the user's home ("/.cache"); "" if there is no home.
std::string own_directory(const char* variable, const char* beside);

}  // namespace heapsift
