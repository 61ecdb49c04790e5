#pragma once

// pandas objects as pandas_frames.cpp needs them: what an object is, its attributes by name, the arrays below
// it.

#include "parsers/reading/heap_reader.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heapsift {

/// What the instances of a type are. All false if the type has nothing to do with pandas.
struct PandasKind {
    bool frame = false, series = false, manager = false, block = false, index = false;
    bool array = false;      // numpy.ndarray or a subclass
    bool container = false;  // dict, list, tuple
    // a class of pandas or derived from one, and part of a frame's values or indexes
    bool below = false;
};

struct NamedObject {
    std::string name;  // "_mgr", "<+24>", "[0]"
    ObjectId object = no_object;
};

/// Caches what it reads, so that containers shared by several objects are read once. Not thread-safe. Refers
/// to the heap: use it within one call.
class PandasReader {
public:
    explicit PandasReader(const HeapReader& heap);

    const HeapReader& heap() const { return heap_; }
    const PandasKind& kind(ObjectId object);

    /// What the object owns; the attributes in its __dict__ count as its own.
    std::vector<NamedObject> attributes(ObjectId object) const;
    /// The attribute of that name, or `no_object`.
    ObjectId attribute(ObjectId object, std::string_view name) const;

    /// What a container or a pandas object leads to: arrays, blocks, managers, indexes, other pandas objects
    /// and containers; in order, at most 65,536.
    const std::vector<ObjectId>& parts(ObjectId object);

    /// The arrays that pandas objects and containers lead to, nearest first, each once; `object` itself if it
    /// is an array. Looks into at most 4,096 objects.
    const std::vector<ObjectId>& arrays_below(ObjectId object);

private:
    PandasKind kind_of_type(TypeId type) const;
    template <class F>
    void visit_ancestors(TypeId type, F&& visit) const;

    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    std::vector<PandasKind> kinds_;  // by TypeId; the last one: type not found
    std::vector<char> known_;
    std::unordered_map<ObjectId, std::vector<ObjectId>> parts_, arrays_;
};

}  // namespace heapsift
