#pragma once

// The heap of a core as a value: columns of numbers with one entry per object, and what was read once besides
// them.
//
// Nothing in it computes, refers to a parser's structures or leads back to the core. To read the core's bytes
// (values, names of references), take a HeapReader, which stands beside it. passes.cpp fills it. Objects,
// types and the runtime are always present. The other columns are present if they were asked for; reading one
// that was not is a bug of ours (`Asked`).
//
// Reference counts and the collector's flags stay in the core, where a HeapReader reads them in 10 ns. Few
// questions ask for one of them twice, and a column would add four bytes per object to the peak of those
// questions that also build dominators.
//
// Memory: 6.5 bytes per object and 1.4 for the index; 2 more for sizes; for the references, see
// reference_graph.h.

#include "parsers/base/address.h"
#include "parsers/cpython/runtime.h"
#include "parsers/cpython/types.h"
#include "parsers/snapshot/asked.h"
#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/memory_rows.h"
#include "parsers/snapshot/native_blocks.h"
#include "parsers/snapshot/object_index.h"
#include "parsers/snapshot/reference_graph.h"
#include "parsers/snapshot/root_set.h"
#include "parsers/snapshot/size_column.h"
#include "parsers/snapshot/traversed.h"

#include <cstddef>

namespace heapsift {

/// The columns that not every heap has.
struct Columns {
    bool sizes = false;         // of all objects
    bool memory = false;        // what all memory is used for
    bool references = false;    // from objects to objects, and from C code to objects
    bool roots = false;         // modules, threads, and what the interpreter holds through them
    bool native = false;        // blocks of C code, and who refers to them
    bool native_graph = false;  // the same blocks one by one, as nodes of the graph

    friend Columns operator|(Columns a, const Columns& b) {
        a.sizes |= b.sizes;
        a.memory |= b.memory;
        a.references |= b.references;
        a.roots |= b.roots;
        a.native |= b.native;
        a.native_graph |= b.native_graph;
        return a;
    }
};

inline constexpr Columns all_columns{true, true, true, true, true, true};

struct HeapSnapshot {
    HeapSnapshot() = default;
    HeapSnapshot(HeapSnapshot&&) = default;
    HeapSnapshot& operator=(HeapSnapshot&&) = default;
    HeapSnapshot(const HeapSnapshot&) = delete;  // millions of objects are not copied by mistake
    HeapSnapshot& operator=(const HeapSnapshot&) = delete;

    PythonRuntime python;  // and how it was found
    TypeTable types;
    FoundObjects objects;  // address, type and FoundBy; ids follow addresses
    ObjectIndex index;     // of the addresses; empty until something needs it, and find() then searches
    Asked<SizeColumn> sizes;
    Asked<MemoryRows> memory;
    Asked<TraversedReferences> traversed;  // wherever there are references
    Asked<ReferenceGraph> references;
    Asked<RootSet> roots;
    Asked<NativeBlocks> native;
    Asked<NativeGraph> native_graph;

    std::size_t object_count() const { return objects.addresses.size(); }
    Address address_of(ObjectId object) const { return objects.addresses[object]; }
    TypeId type_of(ObjectId object) const { return objects.types[object]; }
    const TypeInfo& type_info(ObjectId object) const { return types[objects.types[object]]; }
    FoundBy found_by(ObjectId object) const { return objects.found_by[object]; }
    /// The object that starts at `address`, or `no_object`. Constant time with the index, otherwise a binary
    /// search.
    ObjectId find(Address address) const {
        return index.empty() ? objects.find(address) : index.find(address);
    }
};

}  // namespace heapsift
