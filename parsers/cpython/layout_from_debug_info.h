#pragma once

// A Layout from an interpreter's own debug information.
//
// The problem: built-in tables are right for the builds they were read from, but a distribution's build, or
// one's own, may differ. The idea: layout_fields.def says which structs and member paths make up a Layout, so
// ask the debug information for exactly those. The source: the DWARF of the interpreter (or of its separate
// debug file) and of the extension modules that define the rest.

#include <span>
#include <string>
#include <vector>

#include "parsers/cpython/layout.h"

namespace heapsift {

/// What one file contributed, or why it could not (`problem`, else empty).
struct LayoutSource {
    std::string path;
    std::string build_id;
    std::string problem;
};

struct LayoutFromDebugInfo {
    Layout layout;
    std::vector<LayoutSource> files;
    std::size_t structs_found = 0;
    // many usually are: no interpreter has all structs, and modules have their own files
    std::size_t structs_missing = 0;

    /// Whether there is enough for a CPython: objects, types, the runtime and its interpreters.
    bool usable() const;
};

/// Reads the layout of `version` from `files`: the interpreter first, then extension modules in files of
/// their own (_collections, _ctypes, _decimal, _elementtree, _pickle, _struct, array). A struct comes from
/// the first file that defines it, and is absent if none does. Damaged files are not an error: see
/// `files[].problem` and usable().
LayoutFromDebugInfo layout_from_debug_info(std::span<const std::string> files, const LayoutVersion& version);

}  // namespace heapsift
