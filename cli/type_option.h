#pragma once

// A type as people name it on the command line.

#include "parsers/snapshot/heap_snapshot.h"

#include <string>
#include <vector>

namespace heapsift {

/// module.Name, or Name where one type has it; several where a class was made again and again; with
/// `subclasses` those that derive from it too. Throws `Error` (exit 2): "ambiguous-type", "no-such-type".
std::vector<TypeId> types_named(const HeapSnapshot& heap, const std::string& name, bool subclasses = false);

}  // namespace heapsift
