#pragma once

// The cores that the words of `batch` name.

#include <istream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapsift {

struct CorePaths {
    std::vector<std::string> paths;  // in the order of the words; within a directory by name
    std::vector<std::string> notes;  // what else a directory holds, one line each
};

/// A word is a file (which need not be a core, nor exist: its own line says so), a directory (the files directly in it
/// whose content is a core, or cannot be read: its own line says why; the directory itself where it cannot be listed), or
/// "-". For "-" `input` has paths, one a line or ended by NUL as `find -print0` writes them; these may be directories
/// too. Where `piped` is not empty, "-" is that file. With `only_cores` files are left out wherever a directory's are.
CorePaths find_core_paths(std::span<const std::string> words, std::istream& input,
                          const std::string& piped = "", bool only_cores = false);

/// The paths of such a list, without empty ones.
std::vector<std::string> listed_paths(std::string_view text);

}  // namespace heapsift
