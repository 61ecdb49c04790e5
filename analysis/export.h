#pragma once

// Everything that is known about a heap, as the rows of a few tables.

#include "analysis/array_row.h"
#include "analysis/holding/retained.h"
#include "analysis/object_states.h"
#include "analysis/pass.h"
#include "analysis/root_names.h"
#include "parsers/cpython/python_heap.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct ExportedType {
    TypeId id = no_type;
    std::string name;
    Address address;
    std::uint64_t basicsize = 0;
    std::int64_t itemsize = 0;
    std::optional<TypeId> base;  // tp_base
};

struct ExportedObject {
    ObjectRow row;
    std::optional<TypeId> type;
    std::optional<int> generation;  // 0, 1, 2; 3: frozen; nothing if it is in no list of the collector
    // the immediate one; nothing if that is no object (a frame, a group, the root)
    std::optional<Address> dominator;
};

struct ExportedRoot {
    Address address;  // of the object
    RootKind kind = RootKind::module;
    std::string name;  // RootNamer::name. Not escaped
};

/// One reference. `source` and `target` are addresses; the source of a native reference is not an object.
struct ExportedReference {
    Address source;
    Reference reference;
    bool followed = false;  // StructuralTargets::follows
};

/// Makes the rows one by one, and keeps none: memory is one byte per object. Refers to the graph and the
/// columns: use it for one export.
class ExportReader {
public:
    ExportReader(const HeapGraph& graph, const RetainedSizes& sizes, const ObjectStates& states);

    std::size_t type_count() const { return columns().types.size(); }
    std::size_t object_count() const { return columns().object_count(); }

    ExportedType type(TypeId id) const;
    ExportedObject object(ObjectId id) const;
    /// Calls `visit` with each root as an ExportedRoot, sorted by object.
    template <class F>
    void visit_roots(F&& visit) const {
        RootNamer names(retained_.graph());
        for (const HeapGraph::PlacedRoot& placed : retained_.graph().roots())
            visit(ExportedRoot{columns().address_of(placed.root.object), placed.root.kind,
                               names.name(placed.root)});
    }
    /// Calls `visit` with each reference of an object, as an ExportedReference.
    template <class F>
    void visit_references(ObjectId id, F&& visit) const {
        heap_.visit_references(id, [&](const Reference& reference) {
            visit(ExportedReference{columns().address_of(id), reference,
                                    structural().follows(columns().address_of(id), reference)});
        });
    }
    /// The same for references from memory that belongs to no object.
    template <class F>
    void visit_native_references(F&& visit) const {
        heap_.visit_native_references([&](const Reference& reference) {
            visit(ExportedReference{reference.word, reference, structural().follows(Address(), reference)});
        });
    }

private:
    const StructuralTargets& structural() const { return retained_.graph().structural(); }

    const RetainedLookup retained_;
    const ObjectStates& states_;
    const HeapSnapshot& columns() const { return heap_.snapshot(); }

    const HeapReader& heap_;
    std::vector<std::int8_t> generations_;
};

/// Passes every row to `sink`: types by id, objects by address, references by source, roots by object, and
/// arrays by address. `Sink` has members type, object, reference, root and array.
template <class Sink>
void for_each_row(const ExportReader& rows, const HeapReader& heap, const ProgressCallback& progress,
                  Sink& sink) {
    for (TypeId id{0}; id < rows.type_count(); ++id) sink.type(rows.type(id));
    std::vector<ObjectId> arrays;
    for_each_object(heap.snapshot(), "exporting objects", progress, [&](ObjectId id) {
        sink.object(rows.object(id));
        if (is_array(heap.snapshot(), id)) arrays.push_back(id);
    });
    for_each_object(heap.snapshot(), "exporting references", progress, [&](ObjectId id) {
        rows.visit_references(id, [&](const ExportedReference& reference) { sink.reference(reference); });
    });
    rows.visit_native_references([&](const ExportedReference& reference) { sink.reference(reference); });
    rows.visit_roots([&](const ExportedRoot& root) { sink.root(root); });
    for (const ObjectId id : arrays) sink.array(array_row(heap, id));
}

}  // namespace heapsift
