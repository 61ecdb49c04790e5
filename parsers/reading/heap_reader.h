#pragma once

// Who reads the bytes of a core as objects: values, names of references, the facts of one object, where an
// address lies.
//
// It stands beside the columns of a heap (HeapSnapshot) and answers about one object at a time; what is asked
// of all objects is a column. A function that needs columns alone takes a `const HeapSnapshot&`; one that
// needs bytes takes a `const HeapReader&`, from which the snapshot can be had, and never both.
//
// There is one implementation over a core (core_heap.h); tests have one over values that they write down.

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
    ObjectId object = no_object;   // for the first three
    ObjectId nearest = no_object;  // for the others: the live object closest to it, if there is any
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
    /// What `name` points at lasts as long as the call.
    virtual void visit(ObjectId target, const ReferenceName& name) = 0;
};

class HeapReader {
public:
    virtual ~HeapReader() = default;

    /// The columns.
    const HeapSnapshot& snapshot() const { return *snapshot_; }

    virtual const CoreFile& core() const = 0;
    /// To read fields of objects: strings, dictionaries, attributes.
    virtual const PythonHeap& python_heap() const = 0;

    /// Sizes, reference count and flags, read from the core. Some tens of nanoseconds.
    virtual ObjectFacts facts(ObjectId object) const = 0;
    /// Only the sizes, of `out.size()` objects from `first` on. 30 to 50 nanoseconds an object.
    virtual void sizes(ObjectId first, std::span<ObjectSizes> out) const = 0;
    /// Some 10 nanoseconds.
    virtual CollectorFacts collector_facts(ObjectId object) const = 0;
    /// A short value for people: a literal cut at `limit` characters, a name, or "list of 100".
    virtual ShortValue value(ObjectId object, std::size_t limit = 60) const = 0;
    /// The object, buffer or block that holds `address`. May scan the heap once (buffers): some 10 ns an
    /// object.
    virtual AddressFinding locate(Address address) const = 0;

    // Of these, all but the first need the references, and so does the first where some of the object's are
    // guesses.
    /// The references of one object, named, in layout order; multiplicity is kept, both views are in it
    /// (ReferenceKind). `Reference::target` may be an address at which no object was found. A proved guess is
    /// hidden, and one for which the target's count has no room is left out.
    virtual void visit_references(ObjectId object,
                                  const std::function<void(const Reference&)>& visit) const = 0;
    /// The same of those that lead to one of `targets` (sorted); no others are put into words. One pass over
    /// what `source` refers to, however many they are.
    virtual void visit_references_to(ObjectId source, std::span<const ObjectId> targets,
                                     const std::function<void(const Reference&)>& visit) const = 0;
    /// The references of the real view, unnamed: those of the snapshot's `references`, with what each is
    /// called. Some 50 to 150 ns an object.
    virtual void visit_owned_references(ObjectId object, OwnedReferenceVisitor& visit) const = 0;
    /// All references to `target`, weak ones included, and those that are only reported; native ones last,
    /// with `no_object` as their source. One pass over the heap, some 30 to 100 ns an object.
    virtual void visit_referrers(ObjectId target,
                                 const std::function<void(ObjectId, const Reference&)>& visit) const = 0;
    /// References from memory that is no object's, by address of the word.
    virtual void visit_native_references(const std::function<void(const Reference&)>& visit) const = 0;
    /// The reported view (ReferenceKind) of the objects for which `asked` is not 0; it has an entry for each
    /// object. Computed anew each time; it refers to the snapshot's references.
    virtual ReportedReferences reported_references(std::span<const std::uint8_t> asked,
                                                   const ProgressCallback& progress = {}) const = 0;

protected:
    /// `snapshot` stays where it is, and outlives the reader.
    explicit HeapReader(const HeapSnapshot& snapshot) : snapshot_(&snapshot) {}
    HeapReader(HeapReader&&) = default;
    HeapReader& operator=(HeapReader&&) = default;

private:
    const HeapSnapshot* snapshot_;
};

}  // namespace heapsift
