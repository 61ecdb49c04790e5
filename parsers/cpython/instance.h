#pragma once

// What a class written in Python adds to its C base: __slots__, a __dict__ or the values that stand for one,
// and its class.

#include "parsers/cpython/object_kind.h"

namespace heapsift {

/// Where an instance keeps its attributes. All null for one without.
struct InstanceDict {
    Address dict;    // the materialised __dict__
    Address values;  // the first of the values that stand for a __dict__; null where `dict` alone is used
    bool dict_owns_values = false;  // 3.13: both are there; the dict has the values that lie in the instance
    std::uint64_t count = 0;        // values that the class's shared keys name
    Address values_block;  // 3.11, 3.12: the block of their own in which the values lie, as allocated
    std::uint64_t values_block_size = 0;
};

/// Does the type keep attributes apart from its C base: a managed dict, or a __dict__ slot that a class
/// statement added?
bool has_instance_dict(const PythonHeap& heap, const TypeInfo& type);

InstanceDict instance_dict(const ObjectReader& object);

/// Where an instance with a managed dict keeps its values, if not in its own block: an address inside
/// values_block; null for none. Reads nothing but the words before the object.
Address values_apart(const PythonHeap& heap, Address object);

/// The attribute `name` in the instance's __dict__ or in the values that stand for it; null where there is
/// none.
Address instance_attribute(const ObjectReader& object, std::string_view name);

/// Bytes of inline values that follow the object in its own block (3.13+), 0 elsewhere.
std::uint64_t inline_values_size(const ObjectReader& object);

/// `.__class__`, slots, `.__dict__` or the attributes themselves.
void visit_instance_references(const ObjectReader& object, ReferenceVisitor& visit);

void visit_instance_buffers(const ObjectReader& object, BufferVisitor& visit);

}  // namespace heapsift
