#pragma once

// Ints by which instances of classes written in Python keep blocks of C code. (Which are believed: native_handles.cpp.)

#include "parsers/snapshot/found_objects.h"
#include "parsers/snapshot/native_words.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/reference_graph.h"

#include <vector>

namespace heapsift {

struct NativeHandle {
    ObjectId instance;
    Address block;  // its start
};

/// Each by instance.
struct NativeHandles {
    std::vector<NativeHandle> fields;  // as surely as a field that is a pointer in all instances
    std::vector<NativeHandle> alone;   // perhaps: numbers of 32 bits of which there are few
};

/// `ints`: whose values are starts of blocks to which nothing leads as surely; by object.
/// Cost: if there are any, a look at the references of each instance of a class.
NativeHandles find_native_handles(const ObjectAccess& access, const FoundObjects& objects,
                                  const ReferenceGraph& references, std::vector<NativeWords::Number> ints);

}  // namespace heapsift
