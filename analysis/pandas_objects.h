#pragma once

// pandas' objects as the walks of pandas_frames.cpp need them: what an object is, its attributes by name, the
// arrays below it.

#include "parsers/reading/heap_reader.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heapsift {

/// What an instance of a type is. Nothing of it where the type has nothing to do with pandas.
struct PandasKind {
    bool frame = false, series = false, manager = false, block = false, index = false;
    bool array = false;      // numpy.ndarray or a subclass
    bool container = false;  // dict, list, tuple
    // of pandas or a class derived from one of its own, and part of a frame's values or indexes
    bool below = false;
};

struct NamedObject {
    std::string name;  // "_mgr", "<+24>", "[0]"
    ObjectId object = no_object;
};

/// Keeps what it has read; a heap's containers are read once, whoever shares them. Not for two threads. It
/// refers to the heap: for the time of one call.
class PandasReader {
public:
    explicit PandasReader(const HeapReader& heap);

    const HeapReader& heap() const { return heap_; }
    const PandasKind& kind(ObjectId object);

    /// What the object owns; attributes in its __dict__ are its own.
    std::vector<NamedObject> attributes(ObjectId object) const;
    /// The attribute of that name, or `no_object`.
    ObjectId attribute(ObjectId object, std::string_view name) const;

    /// What a container, or an object of pandas', leads to: arrays, blocks, managers, indexes, other objects
    /// of pandas' and containers, in order and at most 65,536.
    const std::vector<ObjectId>& parts(ObjectId object);

    /// The arrays that objects of pandas' and containers lead to, nearest first, each once; `object` itself
    /// where it is one. It looks into 4,096 objects at most.
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
