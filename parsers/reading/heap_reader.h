#pragma once

// Every live Python object of a core, in address order, and what can be asked of each.
//
// The table keeps 13 bytes an object (address 8, type 4, flags 1), and 4 more once all sizes were asked for.
// Reference counts, values and references are computed from the core when asked for: most questions touch
// each object once, and a core is mapped, not read. How objects are found and proved: builder.cpp.

#include "parsers/base/address.h"
#include "parsers/base/diagnostics.h"
#include "parsers/base/passes.h"
#include "parsers/base/progress.h"
#include "parsers/cpython/object_facts.h"
#include "parsers/cpython/runtime.h"
#include "parsers/cpython/types.h"
#include "parsers/elf/core_file.h"
#include "parsers/snapshot/found_objects.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

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

class PythonHeap;
struct NativeReference;
struct ReferenceName;
class OwnedMemory;
class ReferenceGraph;
class ReportedReferences;
class SizeColumn;

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
    /// Finds the interpreter and all objects. Throws `Error` (exit 1) where there is no CPython or none that
    /// is supported.
    static HeapReader build(CoreFile core, Diagnostics& diagnostics, const ProgressCallback& progress = {});

    HeapReader(HeapReader&&) noexcept;
    HeapReader& operator=(HeapReader&&) noexcept;
    ~HeapReader();

    const CoreFile& core() const;
    const PythonRuntime& python() const;
    const TypeTable& types() const;
    /// To read fields of objects: strings, dictionaries, attributes.
    const PythonHeap& python_heap() const;

    std::size_t object_count() const;
    Address address_of(ObjectId object) const;
    TypeId type_of(ObjectId object) const;
    FoundBy found_by(ObjectId object) const;
    /// The object that starts at `address`, or `no_object`. Logarithmic.
    ObjectId find(Address address) const;
    /// The object, buffer or block that holds `address`. May scan the heap once (buffers): some 10 ns an
    /// object.
    AddressFinding locate(Address address) const;

    /// Sizes, reference count and flags, read from the core. Some tens of nanoseconds.
    ObjectFacts facts(ObjectId object) const;
    /// Only the sizes, of `out.size()` objects from `first` on: for sums over all objects. 30 to 50
    /// nanoseconds an object.
    void sizes(ObjectId first, std::span<ObjectSizes> out) const;
    /// The same of all objects, computed when it is first asked for, or with the references: 4 bytes an
    /// object.
    const SizeColumn& size_column(const ProgressCallback& progress = {}) const;
    /// Names of threads are what a program stored: with `true` a RootSet has none but MainThread's.
    void hide_thread_names(bool hide);
    bool thread_names_hidden() const;
    /// A short value for people: a literal cut at `limit` characters, a name, or "list of 100".
    ShortValue value(ObjectId object, std::size_t limit = 60) const;
    /// The references of one object, named, in layout order; multiplicity is kept, both views are in it
    /// (ReferenceKind). `Reference::target` may be an address at which no object was found. A proved guess is
    /// hidden, and one for which the target's count has no room is left out. The first object whose
    /// references are guessed has the graph built.
    void visit_references(ObjectId object, const std::function<void(const Reference&)>& visit) const;
    /// The same of those that lead to `target`; no others are put into words.
    void visit_references_to(ObjectId source, ObjectId target,
                             const std::function<void(const Reference&)>& visit) const;
    /// The references of the real view, unnamed: `graph.targets(object)` with what each is called. It has the
    /// graph built. Some 50 to 150 ns an object.
    void visit_owned_references(ObjectId object, OwnedReferenceVisitor& visit) const;
    /// All references to `target`, weak ones included, and those that are only reported; native ones last,
    /// with `no_object` as their source. It has the graph built; then one pass over the heap, some 30 to 100
    /// ns an object.
    void visit_referrers(ObjectId target, const std::function<void(ObjectId, const Reference&)>& visit) const;
    /// Some 10 nanoseconds.
    CollectorFacts collector_facts(ObjectId object) const;
    /// The reported view (ReferenceKind) of the objects for which `asked` is not 0; it has an entry for each
    /// object. It has the graph built, and is computed anew each time.
    ReportedReferences reported_references(std::span<const std::uint8_t> asked,
                                           const ProgressCallback& progress = {}) const;
    /// References from memory that is no object's, by address of the word.
    void visit_native_references(const std::function<void(const Reference&)>& visit) const;
    /// The real view of all objects; built when it is first asked for (`progress` may be empty). Not for two
    /// threads at once.
    const ReferenceGraph& references(const ProgressCallback& progress = {}) const;

    /// Where the memory is, each byte once; `bytes` add up to `core().extent().mapped_bytes`.
    struct MemoryRow {
        std::string name;
        std::uint64_t bytes;
    };
    struct MemoryRows {
        std::vector<MemoryRow> rows;
        std::uint64_t overlaps = 0;  // claims that cannot all be true, settled by rule (region_map.h)
    };
    /// Once the references are known it has all sizes computed anew: ask for it before.
    MemoryRows memory_rows(const ProgressCallback& progress = {}) const;

private:
    struct State;
    OwnedMemory& owned_memory(const ProgressCallback& progress) const;
    Reference native_reference(const NativeReference& native) const;
    explicit HeapReader(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace heapsift
