#pragma once

// Who may include what, read from the #include lines of a tree.
//
// The problem: the linker only enforces the order of the libraries. A header may reach into a folder that its
// library does not link, other projects' headers may spread over the tree, and files of one folder may need
// each other in a circle until none can be read alone. The idea: read every #include and check it against
// tables (include_rules.cpp): the order of the folders, and where the headers of other projects belong.
// Circles are not allowed at all. A header and the .cpp of the same name count as one: the header declares
// what the other needs.

#include <string>
#include <vector>

namespace heapsift::test {

/// What is wrong below `root` (in `parsers`, `analysis` and `cli`), one line each, in order of path; empty if
/// nothing is. Throws std::runtime_error if a file cannot be read, or there are no files.
std::vector<std::string> include_complaints(const std::string& root);

}  // namespace heapsift::test
