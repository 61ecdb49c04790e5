#pragma once

// Whose a class or a module is.

#include "parsers/reading/heap_reader.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// A class of the program by its name without that of its module, "Order.Line", and the module's `__file__`.
struct ClassInSource {
    std::string name, file;
};

/// Whether it is a module of the program, not of Python's library or a package.
bool is_of_program(const RootSet& roots, const LoadedModule& module);

/// Of a class in Python of such a module; none for any other. Cost: a look at each module.
std::optional<ClassInSource> class_in_source(const HeapReader& heap, TypeId type);

/// That and those of the program that it inherits from, in the order of lookups.
std::vector<ClassInSource> classes_in_source(const HeapReader& heap, TypeId type);

}  // namespace heapsift
