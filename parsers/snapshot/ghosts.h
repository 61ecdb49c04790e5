#pragma once

// A ghost is what reads as an object and is none: a number where a count would be, and behind it the address of
// a type. Static data has such pairs, and in an executable that is not relocated an address is so small a number
// that a word of some buffer may well be equal to it, and seem to refer to the ghost.

#include "parsers/snapshot/object_access.h"

namespace heapsift {

/// Is what reads as an object a type's entry in a hash table of C code, [hash][&type]? The hash is the address,
/// rotated by four bits (Python/pyhash.c, _Py_HashPointer); as a count of references it would be 600,000 for a
/// type at ten million. Reads two words.
bool in_hash_table(const PythonHeap& heap, Address object);

/// Is what reads as an object of type `type` an entry of a table of types? Either of types alone, as C modules
/// have them (addresses around ten million, in an executable that is not relocated; but those of types are too
/// few to be met by a real count). Or with a small number beside each: since 3.13 the runtime keeps the static
/// types of extension modules so, with the number of interpreters that use them
/// (Include/internal/pycore_runtime.h, types.managed_static). Such entries follow each other at 16 bytes, and
/// each reads as an object that is longer: they cannot all be objects. (Ellipsis, NotImplemented and False do lie
/// side by side in Debian's executables: the first two are headers alone.) Reads five words.
bool in_table_of_types(const PythonHeap& heap, Address object, const TypeInfo& type);

/// Does every reference of what reads as an object of type `type` lead into memory that the process had? True
/// where the references of the type are not known. Costs a search of the memory map for each.
bool references_lead_into_memory(const ObjectAccess& access, Address object, const TypeInfo& type);

}  // namespace heapsift
