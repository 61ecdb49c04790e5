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
    // "code.co_argcount": members that are smaller than the width that their line in layout_fields*.def gives
    std::vector<std::string> too_wide = {};

    /// Whether there is enough for a CPython: objects, types, the runtime and its interpreters.
    bool usable() const;
};

/// What was read from one file, to be kept for the next command: of an interpreter with debug information this
/// takes longer than anything else in a small core. It counts as long as nobody writes to that file.
struct KeptLayout {
    std::string file;   // its path; empty: nothing
    std::string stamp;  // stamp_of (parsers/base/cache_file.h)
    LayoutFromDebugInfo read;

    /// As a part of an index (parsers/index/part.h).
    template <class Self, class Part>
    static void fields(Self& self, Part& part);
};

/// Reads the layout of `version` from `files`: the interpreter first, then extension modules in files of
/// their own (_collections, _ctypes, _decimal, _elementtree, _pickle, _struct, array). A struct comes from
/// the first file that defines it, and is absent if none does. Damaged files are not an error: see
/// `files[].problem` and usable().
LayoutFromDebugInfo layout_from_debug_info(std::span<const std::string> files, const LayoutVersion& version);

/// The same of one file; not read again if `kept` has it, and otherwise kept there if it reads well.
LayoutFromDebugInfo layout_from_debug_info(const std::string& file, const LayoutVersion& version,
                                           KeptLayout& kept);

template <class Self, class Part>
void KeptLayout::fields(Self& self, Part& part) {
    auto& read = self.read;
    part.text(self.file);
    part.text(self.stamp);
    part.number(read.layout.version.major);
    part.number(read.layout.version.minor);
    part.number(read.layout.version.free_threaded);
    part.number(read.layout.version.debug);
    part.number(read.structs_found);
    part.number(read.structs_missing);
    part.list(read.files, [](auto& file, Part& p) {
        p.text(file.path);
        p.text(file.build_id);
    });
    part.require(read.files.size() == 1, "a layout is not of one file");
    for (const LayoutFieldName& field : layout_field_names()) {
        if (!field.bits) {
            part.number(layout_offset(read.layout, field));
            continue;
        }
        auto& bits = layout_bits(read.layout, field);
        part.number(bits.byte);
        part.number(bits.bit);
        part.number(bits.width);
        part.require(bits.bit < 8 && bits.width <= 32, "a bit field is wider than a word");
    }
}

}  // namespace heapsift
