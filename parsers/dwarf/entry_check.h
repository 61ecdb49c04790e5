#pragma once

// Checks that the entries of .debug_info stay inside their units.
//
// The problem: LLVM skips an attribute's bytes without checking that they are there, and reads on from
// wherever that leads. A damaged length makes it read outside the file, and the process ends. The idea: walk
// all entries beforehand, only adding up sizes. Nothing else is looked at, so this costs a fraction of the
// reading. The source: DWARF 5, 7.5 (unit headers, abbreviations, the size of each form), and GNU's forms for
// dwz and split units.

#include <cstdint>
#include <string>
#include <string_view>

namespace heapsift {

/// What is wrong with the units of `info`, whose abbreviations are in `abbrev` (both unpacked, little
/// endian); empty if nothing. `debug_types`: `info` is DWARF 4's .debug_types, whose unit headers are longer.
/// `whole_trees`: each unit must also be one tree of entries, whose ends are all there, of a credible depth: for
/// a reader that goes down it.
std::string damage_in_entries(std::string_view info, std::string_view abbrev, bool debug_types,
                              bool whole_trees = false);

/// Whether the header of the line table at `offset` of `lines` (.debug_line) is whole, with sizes and forms that
/// LLVM knows: for others it goes wrong. DWARF with 64-bit offsets is refused.
bool sound_line_table(std::string_view lines, std::uint64_t offset);

}  // namespace heapsift
