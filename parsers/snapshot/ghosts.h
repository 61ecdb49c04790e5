#pragma once

// A ghost reads as an object but is none: a number where the count would be, followed by the address of a
// type. Static data contains such pairs. In an executable that is not relocated, addresses are small numbers,
// so a word of some buffer may equal the ghost's address by chance and seem to refer to it.

#include "parsers/snapshot/object_access.h"

namespace heapsift {

/// True if what reads as an object is an entry for a type in a hash table of C code, [hash][&type]. The hash
/// is the address rotated by four bits (Python/pyhash.c, _Py_HashPointer); read as a reference count it would
/// be 600,000 for a type at address ten million. `count` is its reference count.
bool in_hash_table(const ObjectReader& object, std::uint64_t count);

/// True if what reads as an object of type `type` is an entry of a table of types, in one of two forms. The
/// first has types alone, as in C modules: in an executable that is not relocated the address of a type is
/// around ten million and could be a count, but types are too few for a real count to equal one of their
/// addresses. The second has a small number beside each type: since 3.13 the runtime keeps the static types
/// of extension modules with the number of interpreters that use them (Include/internal/pycore_runtime.h,
/// types.managed_static). Such entries follow each other every 16 bytes, and each reads as a longer object,
/// so they cannot all be objects. (Ellipsis, NotImplemented and False do lie side by side in Debian's
/// executables, but the first two are only a header.) Reads five words.
bool in_table_of_types(const PythonHeap& heap, Address object, const TypeInfo& type);

/// True if every reference of what reads as an object of type `type` leads into memory that the process had,
/// or if the references of the type are not known. Cost: a search of the memory map per reference.
bool references_lead_into_memory(const ObjectAccess& access, Address object, const TypeInfo& type);

/// True if every reference that it owns leads to what reads as an object that is alive, or if the references of the type
/// are not known. An allocator that overwrites only the first word of a block it takes back leaves a dead object's type
/// and fields in there; a small number in the first word of the block's next owner then looks like a count. Cost: a look at
/// each referent.
bool references_lead_to_objects(const ObjectAccess& access, Address object, const TypeInfo& type);

/// True if two or more of the references that it owns lead into saved memory, and not to a live object there: what
/// remains of a dead object in a block that has another owner now. (A single one is what an overwritten word
/// looks like.) Cost: as above.
bool reads_as_remains(const ObjectAccess& access, Address object, const TypeInfo& type);

}  // namespace heapsift
