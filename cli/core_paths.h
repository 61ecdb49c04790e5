#pragma once

// The cores that the words of `batch` name.

#include <istream>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

struct CorePaths {
    std::vector<std::string> paths;  // in the order of the words; within a directory by name
    std::vector<std::string> notes;  // what else a directory holds, one line each
};

/// A word is a file (which need not be a core, nor exist: its own line says so), a directory (the files
/// directly in it whose content is a core), or "-". For "-" `input` has paths, one a line or ended by NUL as
/// `find -print0` writes them; these may be directories too. Where `piped` is not empty, "-" is that file.
CorePaths find_core_paths(std::span<const std::string> words, std::istream& input,
                          const std::string& piped = "");

}  // namespace heapsift
