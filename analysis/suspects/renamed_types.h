#pragma once

// Types of the standard library that had another name in another version of Python.

#include <string>

namespace heapsift {

/// The name that stands in patterns and signatures for that of a type: "pathlib.PosixPath" of
/// "pathlib._local.PosixPath", as 3.13 has it; `name` itself if it had no other. A name without a module is
/// one of a type that is no class of a program's: those have their module before them. Cost: a binary search.
std::string general_type_name(const std::string& name);

}  // namespace heapsift
