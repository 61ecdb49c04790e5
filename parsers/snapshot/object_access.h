#pragma once

// Everything that is computed for one object on demand, from its type's kind and the allocators. Shared by
// the builder, which uses it to prove objects, the passes over all objects, and the reader of single objects.

#include "parsers/cpython/instance.h"
#include "parsers/cpython/type_flags.h"
#include "parsers/snapshot/allocations.h"
#include "parsers/snapshot/traversed.h"
#include "parsers/values/values.h"

#include <functional>

namespace heapsift {

/// Called with the memory of one object, part by part, in the order in which `sizes` finds the parts.
class PlaceVisitor {
public:
    enum class Role : std::uint8_t { own_block, buffer, array_data };
    virtual ~PlaceVisitor() = default;
    /// `bytes` were asked for; `held` says how many bytes are counted for them, and in which pool they lie.
    virtual void visit(Address start, std::uint64_t bytes, const Allocations::Held& held, Role role) = 0;
};

class ObjectAccess {
public:
    ObjectAccess(const PythonHeap& heap, const Allocations& allocations)
        : heap_(&heap), allocations_(&allocations), values_(heap) {}

    /// A C type may declare a size larger than what it allocates, by this many bytes at most.
    static constexpr std::uint64_t declared_too_much = 64;

    /// From now on references of types that nobody described are those, where they are known; it must outlive this.
    void set_traversed(const TraversedReferences& traversed) { traversed_ = &traversed; }

    const PythonHeap& heap() const { return *heap_; }
    const Allocations& allocations() const { return *allocations_; }

    /// True if the collector knows objects like this one. (Static types have no header, although `type` has
    /// the flag.)
    bool is_gc(Address object, const TypeInfo& type) const {
        return type.has_gc && (!(type.flags & type_subclass_flag) || is_heap_type(object));
    }
    /// Bytes between the start of the block and the object.
    std::uint32_t presize(Address object, const TypeInfo& type) const {
        return is_gc(object, type) ? type.presize : 0;
    }
    /// True if the object is linked in a list of the collector now.
    bool gc_tracked(Address object, const TypeInfo& type) const;

    /// What sys.getsizeof returns.
    std::uint64_t size(Address object, const TypeInfo& type) const {
        return size(ObjectReader(*heap_, object, type));
    }
    std::uint64_t size(const ObjectReader& object) const;
    /// Bytes that were asked for, at least, for the object's own block, counted from the block's start.
    std::uint64_t requested(Address object, const TypeInfo& type) const {
        return requested(ObjectReader(*heap_, object, type));
    }
    std::uint64_t requested(const ObjectReader& object) const;

    /// The count as stored in the object; 0 if it cannot be read (build/refcount.h).
    std::int64_t refcount(Address object) const;
    bool immortal(Address object) const;

    ObjectFacts facts(Address object, const TypeInfo& type) const;
    /// Only the sizes of `facts`: for sums over all objects. No size exceeds the memory that is there: what
    /// an object claims is checked against its blocks; if the claim cannot be true, the object is damaged and
    /// its sizes are cut down.
    ObjectSizes sizes(Address object, const TypeInfo& type, PlaceVisitor* places = nullptr) const;
    /// The places that `sizes` visits, without the sizes. Memory in pymalloc's pools is identified by its
    /// start alone: there `bytes` is 0 and `held` names the pool alone, except for array data.
    void visit_places(Address object, const TypeInfo& type, PlaceVisitor& places) const;
    /// True if a block in use holds an object with a count of 0, which the interpreter keeps for reuse: frames, up
    /// to 3.10 one for each code object; tuples, parts of generators.
    bool holds_dead_object(Address block, std::uint64_t size) const;
    /// Of what type it is; `no_type` if there is none.
    TypeId dead_object_type(Address block, std::uint64_t size) const;
    /// Whether there is a dead object, in a block in use of its own, of a type that a C module makes for
    /// itself.
    bool is_kept_dead(Address object) const;
    /// `holds_dead_object`, or what reads as the table of a dict that is kept for reuse: also a block that
    /// begins with zeros.
    bool in_free_list(Address block, std::uint64_t size) const;
    /// Prefetches the first line of the object. Some 2 ns.
    void fetch_object(Address object) const { heap_->memory().fetch(object); }
    /// Prefetches the memory apart from the object that `sizes` will read: a dict's table.
    void fetch_parts(Address object, const TypeInfo& type) const;
    /// The same for `visit_references`: also a list's items, and values that lie apart from their instance.
    void fetch_references(Address object, const TypeInfo& type) const;

    ShortValue value(Address object, const TypeInfo& type, std::size_t limit) const;
    Reference named(Address target, ReferenceKind kind, const ReferenceName& name) const;
    /// The references of both views, one by one (ReferenceKind says which belongs to which view). Guesses are
    /// candidates: aligned words of the body that are addresses of what reads as an object.
    void visit_references(Address object, const TypeInfo& type, ReferenceVisitor& visit) const;
    void visit_buffers(Address object, const TypeInfo& type, BufferVisitor& visit) const;
    /// False if some references are guesses.
    bool references_exact(Address object, const TypeInfo& type) const;

private:
    bool is_heap_type(Address type) const {
        return (heap_->integer<std::uint64_t>(type + *heap_->layout().type.tp_flags) & heap_type_flag) != 0;
    }
    void fetch(Address at) const {
        if (const auto bytes = heap_->memory().view(at, 1); !bytes.empty()) __builtin_prefetch(bytes.data());
    }
    /// The buffers of `object`. Values that take the place of a dict and lie in a pymalloc pool go to
    /// `pooled_values(address, pool)` instead: all blocks of the pool have one size, so the values need not
    /// be read.
    template <class F>
    void visit_buffers(const ObjectReader& object, BufferVisitor& visit, F&& pooled_values) const;
    ShortValue key_value(Address key, int depth = 0) const;
    ShortValue tuple_literal(Address tuple, int depth) const;
    std::string member_at(TypeId type, std::uint64_t offset) const;
    ReferenceStep step_at(TypeId type, std::uint64_t offset, Address target) const;
    std::string element_name(Address holder, std::uint64_t place) const;
    void limit_to_block(ObjectReader& object) const;
    /// Whether every instance has the size that the type declares, and no memory but its own block.
    static bool has_one_size(const TypeInfo& type);
    /// `sizes` of an object of such a type: nothing of it is read.
    ObjectSizes one_size(Address object, const TypeInfo& type, PlaceVisitor* places) const;
    /// What is counted for an object's own block, of which it asked for `own` bytes.
    Allocations::Held own_block(Address start, std::uint64_t own, const TypeInfo& type) const;
    void visit_all_references(const ObjectReader& object, ReferenceVisitor& visit) const;
    /// What is cheap to ask, of every object.
    static bool may_be_unknown(const TypeInfo& type) {
        return type.guessed || (type.kind && (type.kind->guesses || type.kind->exact));
    }
    const TraversedReferences::Reading* reading_of(const TypeInfo& type) const {
        if (!traversed_ || traversed_->empty() || !may_be_unknown(type)) return nullptr;
        return traversed_->of(heap_->types().id_of(type));
    }
    bool visit_traversed(const ObjectReader& object, const TraversedReferences::Reading& reading,
                         ReferenceVisitor& visit) const;
    void name_visits(const ObjectReader& object, const TraversedReferences::Reading& reading,
                     VisitList& visits, ReferenceVisitor& visit) const;
    void visit_guesses(const ObjectReader& object, std::uint64_t from, std::uint64_t to,
                       ReferenceVisitor& visit) const;

    const PythonHeap* heap_;
    const Allocations* allocations_;
    Values values_;
    const TraversedReferences* traversed_ = nullptr;
};

}  // namespace heapsift
