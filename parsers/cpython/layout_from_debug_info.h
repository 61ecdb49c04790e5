#pragma once

// A Layout from an interpreter's own debug information.
//
// The problem: built-in tables are right for the builds they were read from; a distribution's or one's own
// build may differ. The idea: layout_fields.def says which structs and member paths make up a Layout; ask the
// debug information for exactly those. The source: DWARF of the interpreter (or of its separate debug file)
// and of the extension modules that define the rest.

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
    // many are: no interpreter has all structs, and modules have files of their own
    std::size_t structs_missing = 0;

    /// Whether enough is there to be a CPython at all: objects, types, the runtime and its interpreters.
    bool usable() const;
};

/// Reads the layout of version `version` out of `files`: the interpreter first, then extension modules that
/// are files of their own (_collections, _ctypes, _decimal, _elementtree, _pickle, _struct, array). A struct
/// is taken from the first file that defines it; what no file defines is absent. Damaged files are no error:
/// see
/// `files[].problem` and usable().
LayoutFromDebugInfo layout_from_debug_info(std::span<const std::string> files, const LayoutVersion& version);

}  // namespace heapsift
