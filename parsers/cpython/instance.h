#pragma once

// What a Python class adds to its C base: __slots__, a __dict__ or the values that stand for one, and the
// reference to the class.

#include "parsers/cpython/object_kind.h"

namespace heapsift {

/// Where an instance keeps its attributes. All null if it has none.
struct InstanceDict {
    Address dict;    // the materialised __dict__
    Address values;  // the first of the values that stand for a __dict__; null if only `dict` is used
    bool dict_owns_values = false;  // 3.13: both exist; the dict uses the values in the instance
    std::uint64_t count = 0;        // values that the class's shared keys name
    Address values_block;           // 3.11, 3.12: the separate block that holds the values
    std::uint64_t values_block_size = 0;
};

/// Whether instances have attributes beyond the C base: a managed dict, or a __dict__ slot that a class
/// statement added.
bool has_instance_dict(const PythonHeap& heap, const TypeInfo& type);

InstanceDict instance_dict(const ObjectReader& object);

/// Where an instance with a managed dict keeps its values, if not in its own block: an address inside
/// values_block; null if nowhere. Reads only the words before the object.
Address values_apart(const PythonHeap& heap, Address object);

/// The attribute `name` in the instance's __dict__, or in the values that stand for it; null if there is
/// none.
Address instance_attribute(const ObjectReader& object, std::string_view name);

/// Bytes of the inline values that follow the object in its own block (3.13+), otherwise 0.
std::uint64_t inline_values_size(const ObjectReader& object);

/// Visits `.__class__`, the slots, and `.__dict__` or the attributes themselves.
void visit_instance_references(const ObjectReader& object, ReferenceVisitor& visit);
/// The same without `.__class__`.
void visit_instance_attributes(const ObjectReader& object, ReferenceVisitor& visit);

/// The nearest type that is made by C: `type`, or one of its bases.
const TypeInfo* c_base(const PythonHeap& heap, const TypeInfo& type);

void visit_instance_buffers(const ObjectReader& object, BufferVisitor& visit);

}  // namespace heapsift
