#pragma once

// The cores that the words of `batch` name.

#include <istream>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

struct CorePaths {
    std::vector<std::string> paths;  // in the order of the words; of a directory, in the order of the names
    std::vector<std::string> notes;  // what a directory holds besides, a line each
};

/// A word is a file (which need not be a core, nor be there: that is for its own line to say), a directory
/// (the files right in it that are cores by content), or "-": `input` has paths, a line each, or ended by NUL
/// as `find -print0` writes them; those may be directories too.
CorePaths find_core_paths(std::span<const std::string> words, std::istream& input);

}  // namespace heapsift
