#pragma once

// The C++ class of an object, by the table of its virtual functions.

#include "parsers/elf/core_file.h"

#include <string>

namespace heapsift {

struct NativeClass {
    std::string name;  // "shapes::Circle"; "libshapes.so+0x3d58" if neither symbol nor type information tells
    std::string module;  // the base name of the file that has the table; empty if none has
    bool named = false;  // the name is the class's
};

/// `table`: the first word of an object. From the table's symbol, else from the class's type information in
/// memory. Cost: the symbols of the module are read once.
NativeClass native_class(const CoreFile& core, Address table);

/// The name of a symbol for people: demangled if it is mangled.
std::string symbol_words(const std::string& symbol);

}  // namespace heapsift
