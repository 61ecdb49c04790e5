#pragma once

// Who may include what, read from the #include lines of a tree.
//
// The problem: a linker holds the order of the libraries, and no more; a header may reach into a folder that
// its library does not link, a library's headers may spread over the tree, and files of one folder may need
// each other in a circle until none can be read alone. The idea: read every #include, and hold it against
// three tables (include_rules.cpp): the order of the folders, where the headers of other projects belong, and
// none for circles, for there are to be none. A header and the .cpp of its name are one: the header declares
// what the other needs of everybody else.

#include <string>
#include <vector>

namespace heapsift::test {

/// What is wrong below `root` (its `parsers`, `analysis` and `cli`), a line each, in the order of the paths;
/// empty where nothing is. Throws std::runtime_error where a file cannot be read, or there is none at all.
std::vector<std::string> include_complaints(const std::string& root);

}  // namespace heapsift::test
