#pragma once

// Reads the bytes of a core as objects: values, names of references, the facts about one object, where an
// address lies.
//
// A HeapReader stands beside the columns of a heap (HeapSnapshot) and answers about one object at a time;
// what is asked about all objects is a column. A function that needs only columns takes a `const
// HeapSnapshot&`. One that needs bytes takes a `const HeapReader&`, which also gives the snapshot; no
// function takes both.
//
// There is one implementation for cores (core_heap.h); tests have one for values that they write down.

#include "parsers/base/address.h"
#include "parsers/base/progress.h"
#include "parsers/cpython/object_facts.h"
#include "parsers/snapshot/heap_snapshot.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace heapsift {

/// Where an address lies.
struct AddressFinding {
    enum class Kind {
        object,
        inside_object,
        buffer_of_object,
        free_block,
        other_memory,
        not_saved,
        unmapped
    } kind;
    ObjectId object = no_object;   // for the first three kinds
    ObjectId nearest = no_object;  // for the others: the live object closest to the address, if any
};

class CoreFile;
class PythonHeap;
struct ReferenceName;
class ReportedReferences;

/// What the collector reads of an object and its header.
struct CollectorFacts {
    std::int64_t refcount = 0;
    bool immortal = false;
    bool tracked = false;
    bool finalized = false;  // its finalizer has run, and will not run again
};

class OwnedReferenceVisitor {
public:
    virtual ~OwnedReferenceVisitor() = default;
    /// What `name` points at is valid only during the call.
    virtual void visit(ObjectId target, const ReferenceName& name) = 0;
};

class HeapReader {
public:
    virtual ~HeapReader() = default;

    const HeapSnapshot& snapshot() const { return *snapshot_; }

    virtual const CoreFile& core() const = 0;
    /// For reading fields of objects: strings, dictionaries, attributes.
    virtual const PythonHeap& python_heap() const = 0;

    /// Sizes, reference count and flags, read from the core. Cost: tens of nanoseconds.
    virtual ObjectFacts facts(ObjectId object) const = 0;
    /// Only the sizes, of `out.size()` objects starting with `first`. Cost: 30 to 50 ns per object.
    virtual void sizes(ObjectId first, std::span<ObjectSizes> out) const = 0;
    /// Cost: about 10 ns.
    virtual CollectorFacts collector_facts(ObjectId object) const = 0;
    /// The last of `facts` alone. Cost: a few nanoseconds.
    virtual bool references_exact(ObjectId object) const { return facts(object).references_exact; }
    /// A short value for people: a literal cut at `limit` characters, a name, or "list of 100".
    virtual ShortValue value(ObjectId object, std::size_t limit = 60) const = 0;
    /// The object, buffer or block that holds `address`. May scan the heap once for buffers: about 10 ns per
    /// object.
    virtual AddressFinding locate(Address address) const = 0;
    /// False if the address lies in memory that an allocator has: in a free block, or in what it has not handed
    /// out; or in a stack that the collector keeps empty. What was written there before may still be in it.
    virtual bool handed_out(Address) const { return true; }

    // The following need the references, except visit_references, which needs them only if some of the
    // object's are guesses.
    /// The references of one object, named, in layout order, with multiplicity, of both views
    /// (ReferenceKind). `Reference::target` may be an address at which no object was found. A proved guess is
    /// hidden; a guess for which the target's count has no room is left out.
    virtual void visit_references(ObjectId object,
                                  const std::function<void(const Reference&)>& visit) const = 0;
    /// The same for references to one of `targets` (sorted) only. Names no others. Cost: one pass over what
    /// `source` refers to, however many the targets are.
    virtual void visit_references_to(ObjectId source, std::span<const ObjectId> targets,
                                     const std::function<void(const Reference&)>& visit) const = 0;
    /// The references of the real view, which are those of the snapshot's `references`, each with its
    /// ReferenceName instead of text. Cost: 50 to 150 ns per object.
    virtual void visit_owned_references(ObjectId object, OwnedReferenceVisitor& visit) const = 0;
    /// Prefetches what visit_owned_references will read of the object itself; then what lies apart from it.
    virtual void fetch(ObjectId object) const { static_cast<void>(object); }
    virtual void fetch_parts(ObjectId object) const { static_cast<void>(object); }
    /// All references to `target`, including weak ones and those that are only reported; native ones come
    /// last, with `no_object` as their source. Cost: a look at all references, less than 1 ns each, and a
    /// pass over what each of the referrers refers to.
    virtual void visit_referrers(ObjectId target,
                                 const std::function<void(ObjectId, const Reference&)>& visit) const = 0;
    /// References from memory that is no object's, sorted by the address of the word. With blocks as nodes of
    /// the graph, marked pointers (NativeGraph::Held) as well.
    virtual void visit_native_references(const std::function<void(const Reference&)>& visit) const = 0;
    /// C code's blocks one by one, by allocator and address, with the place of each one's row in the snapshot's `native`.
    virtual void visit_native_blocks(
        const std::function<void(Address start, std::uint32_t row)>& visit) const = 0;
    /// The reported view (ReferenceKind) of the objects for which `asked` is not 0; `asked` has an entry for
    /// each object. Computed anew on each call; the result refers to the snapshot's references.
    virtual ReportedReferences reported_references(std::span<const std::uint8_t> asked,
                                                   const ProgressCallback& progress = {}) const = 0;

protected:
    /// `snapshot` must outlive the reader, at the same address.
    explicit HeapReader(const HeapSnapshot& snapshot) : snapshot_(&snapshot) {}
    HeapReader(HeapReader&&) = default;
    HeapReader& operator=(HeapReader&&) = default;

private:
    const HeapSnapshot* snapshot_;
};

}  // namespace heapsift
