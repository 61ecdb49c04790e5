#pragma once

// How a compiler laid out C structs: sizes, member offsets and bit fields, read from debug information
// (DWARF).
//
// The problem: the interpreter's private structs move between releases and with build options, and nothing in
// a stripped core says where a member is. The compiler wrote it down, in .debug_info of the binary or of the
// separate debug file. The idea: name the wanted structs and member paths, walk the top level of each
// compilation unit once, keep plain numbers. The source: DWARF 5, 5.7 (structure, union and class entries;
// bit fields in 5.7.6), read with LLVM's DWARFContext. No LLVM type leaves struct_layouts.cpp.

#include "parsers/dwarf/struct_place.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace heapsift {

/// A file that was searched: its GNU build-id in hex (may be empty) and, if it could not be read to its end,
/// why.
struct DebugInfoFile {
    std::string path;
    std::string build_id;
    std::string problem;
};

struct StructLayouts {
    std::vector<std::optional<StructPlace>> structs;  // parallel to the requests
    std::vector<DebugInfoFile> files;                 // parallel to the paths
};

/// Looks for `requests` in the debug information of `paths`, in that order: a struct is taken from the first
/// file that defines it, and there from the first full definition (declarations do not count). Files that are
/// no longer needed are not searched. Damaged input is normal: it ends up in `problem`, what was read before
/// it is kept, and nothing is thrown.
StructLayouts read_struct_layouts(std::span<const std::string> paths,
                                  std::span<const StructRequest> requests);

/// The GNU build-id of an ELF file in hex; empty if it has none or the file cannot be read.
std::string build_id_of_file(const std::string& path);

}  // namespace heapsift
