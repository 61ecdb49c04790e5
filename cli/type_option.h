#pragma once

// A type as people name it on the command line.

#include "parsers/snapshot/heap_snapshot.h"

#include <string>
#include <vector>

namespace heapsift {

/// `name` is module.Name, or Name if only one type has that name; with * (any text) or ? (one character) in it,
/// every type that fits (analysis/type_names.h). Returns several types if a class was
/// created repeatedly; with `subclasses` those derived from it too. Throws `Error` (exit 2):
/// "ambiguous-type", "no-such-type".
std::vector<TypeId> types_named(const HeapSnapshot& heap, const std::string& name, bool subclasses = false);

/// Each name of a type that has objects, once, the most frequent first. Cost: one walk over the objects'
/// types.
std::vector<std::string> type_names_by_count(const HeapSnapshot& heap);

}  // namespace heapsift
