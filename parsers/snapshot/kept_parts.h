#pragma once

// Which columns of a heap an index keeps, in which parts, and what must hold of their values.
//
//   layout       of the interpreter's structs, as its debug information says, if it has some
//   pools        of pymalloc
//   malloc       its heaps: where a block in use begins; and whether there are other allocators
//   types        where they are; what they are is read anew
//   objects      address, type and proof of each; what the heap said of itself; what was odd on the way
//   sizes        of all objects
//   memory       whose every byte is
//   lookup       from addresses to objects
//   traversed    what types report that nobody described
//   references   who holds whom
//   native       blocks of C code, in rows
//   native graph the same, one by one
//
// Where the interpreter's state lies, and the roots, are not kept: to find them takes milliseconds.

#include "parsers/base/diagnostics.h"
#include "parsers/index/index_file.h"
#include "parsers/snapshot/allocations.h"
#include "parsers/snapshot/heap_snapshot.h"
#include "parsers/snapshot/learned_facts.h"

#include <optional>
#include <vector>

namespace heapsift {

/// What the first part of the passes gives beyond the runtime and the types.
struct FoundHeap {
    FoundObjects objects;
    LearnedFacts learned;
    Diagnostics odd;
};

/// What debug information said, of a file that may have changed since.
bool read_layout(IndexFile& index, KeptLayout& layout);

/// pymalloc, with what was odd about it.
struct FoundPools {
    Pymalloc pymalloc;
    Diagnostics odd;
};
bool read_pools(IndexFile& index, const AddressSpace& memory, const PythonRuntime& python, FoundPools& found);

/// malloc, and whether there are no allocators but this and pymalloc.
struct FoundMalloc {
    MallocHeaps heaps;
    bool alone = false;
};
bool read_malloc(IndexFile& index, const AddressSpace& memory, FoundMalloc& found);

/// Where the types of `python` are; nothing if that is not there.
std::vector<Address> read_types(IndexFile& index, const PythonRuntime& python);

/// Each reads one part for the heap of `python` and `types`, and returns false if it is not there or damaged.
/// Objects are damaged, too, if those of a sample have another type in `memory`: then the index is of what
/// the core was before somebody wrote into it.
bool read_objects(IndexFile& index, const AddressSpace& memory, const PythonRuntime& python,
                  const TypeTable& types, FoundHeap& found);
bool read_sizes(IndexFile& index, HeapSnapshot& heap);
bool read_memory(IndexFile& index, HeapSnapshot& heap);
bool read_native(IndexFile& index, HeapSnapshot& heap);
bool read_native_graph(IndexFile& index, HeapSnapshot& heap);
/// The same beside the heap, which stays as it is: for a look-up that every answer may make, whatever it declared.
std::optional<NativeGraph> kept_native_graph(IndexFile& index, const HeapSnapshot& heap);
bool read_lookup(IndexFile& index, HeapSnapshot& heap);
/// Also false if nothing could be emulated when it was written, and something can be now.
bool read_traversed(IndexFile& index, HeapSnapshot& heap);
bool read_references(IndexFile& index, const PythonHeap& python, HeapSnapshot& heap);

/// Whether all parts of these columns are there, so that they cost nothing.
bool has_columns(const IndexFile& index, const Columns& columns);

/// Those parts that the heap has and `index`, which may be null, has not: to be written while the heap lives.
struct FoundBesides {
    const KeptLayout& layout;
    const Allocations& allocations;
    const Diagnostics& odd_of_pools;
    const LearnedFacts& learned;
    const Diagnostics& odd_of_objects;
};
std::vector<PartWriter> parts_of(const HeapSnapshot& heap, const FoundBesides& found, const IndexFile* index);

}  // namespace heapsift
