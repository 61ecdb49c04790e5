#pragma once

// The names of a core's types, in a small file beside its index, for completion.

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// What is kept of the core at `core` in the file `path`, the most frequent type first. Nothing if there is
/// no such file, if it is another user's, or if the core was changed since. Cost: reading the file, at most
/// 4 MiB.
std::optional<std::vector<std::string>> read_type_names(const std::string& path, const std::string& core);

/// Whether it is there, and of this core as it is now.
bool has_type_names(const std::string& path, const std::string& core);

/// Writes it, whole or not at all; a file that cannot be written is no error. Leaves out names that no line
/// of a shell can show (with control characters), and those beyond 2 MiB.
void keep_type_names(const std::string& path, const std::string& core, const std::vector<std::string>& names);

}  // namespace heapsift
