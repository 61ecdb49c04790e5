#pragma once

// Old-style classes of CPython 2.7 and what their instances inherit: objects of the type `classobj` with a tuple of
// bases and a dict each. An attribute is looked for in the class, then in its bases, depth first, from left to right
// (classobject.c, class_lookup).

#include "parsers/cpython/python_heap.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace heapsift {

/// "module.Name"; "Name" without a module, "?" if it does not read as such a class.
std::string old_class_name(const PythonHeap& heap, Address old_class);

/// The old-style class of an instance of one, or the object itself if it is such a class; else null.
Address old_class_of(const PythonHeap& heap, Address object);

/// The attribute of an old-style class or of what it derives from; null if there is none. At most some thousand classes
/// are looked at.
Address old_class_attribute(const PythonHeap& heap, Address old_class, std::string_view name);

/// 2.7 (gcmodule.c, has_finalizer): which objects the collector leaves alone, with what they reach: instances of old-style
/// classes that have __del__, and generators that are inside a try or with statement. None in CPython 3. Looks through
/// each class once. Refers to the heap.
class OldFinalizers {
public:
    explicit OldFinalizers(const PythonHeap& heap) : heap_(heap) {}
    /// `type` is the object's.
    bool has(Address object, const TypeInfo& type);

private:
    const PythonHeap& heap_;
    std::unordered_map<std::uint64_t, bool> of_class_;  // by address
};

}  // namespace heapsift
