#pragma once

// One end of a way through C code's memory: a block, an object, a variable, a stack.

#include "analysis/object_row.h"
#include "parsers/snapshot/native_graph.h"

#include <optional>
#include <string>

namespace heapsift {

/// What leads to a block, or what a block leads to.
struct NativeEnd {
    std::optional<ObjectRow> object;
    Address address;          // of a block, of a variable; null for a stack
    std::uint64_t bytes = 0;  // of a block
    std::string words;        // a block's class, the variable: "libfoo.so kept"; not escaped
    bool is_block = false;
    bool leaked = false;  // nothing: `words` says so
};

NativeEnd end_at(const HeapReader& heap, ObjectId object);
/// For a heap with blocks.
NativeEnd end_at(const HeapReader& heap, BlockId block);
NativeEnd end_at(const HeapReader& heap, const NativeGraph::Entry& entry);

/// The C++ class of a block; empty if its first word is no table of functions with a name.
std::string class_of_block(const HeapReader& heap, BlockId block);

}  // namespace heapsift
