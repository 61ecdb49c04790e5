// A table shows what its columns are made for. Questions that no table foresaw go to SQL or a data frame. An
// export is therefore the heap as it is: one row per type, object and array, nothing grouped and nothing cut.
// Rows are made one by one as they are written: all at once would take several times the memory of the heap.
//
// What an array shows and what it owns are different things: the columns of `array` are ndarray's own
// attributes, and `owner` follows the bases to the owner of the bytes (parsers/numpy).

#include "analysis/export.h"

#include "analysis/generations.h"

namespace heapsift {
ExportReader::ExportReader(const HeapGraph& graph, const RetainedSizes& sizes, const ObjectStates& states)
    : retained_(graph, sizes), states_(states), heap_(graph.heap()), generations_(generations(heap_)) {}

ExportedType ExportReader::type(TypeId id) const {
    const TypeInfo& info = columns().types[id];
    ExportedType row;
    row.id = id;
    row.name = info.name;
    row.address = info.address;
    row.basicsize = info.basicsize;
    row.itemsize = info.itemsize;
    if (info.base != no_type) row.base = info.base;
    return row;
}

ExportedObject ExportReader::object(ObjectId id) const {
    ExportedObject object;
    const HeapGraph& graph = retained_.graph();
    object.row = object_row(heap_, id);
    object.row.retained = retained_.memory(id);
    object.row.native = retained_.native(id);
    object.row.state = states_.of(id);
    if (const NodeId above = retained_.dominator(id); graph.kind(above) == NodeKind::object)
        object.dominator = columns().address_of(graph.object_of(above));
    if (columns().type_of(id) != no_type) object.type = columns().type_of(id);
    if (generations_[id] != no_generation) object.generation = generations_[id];
    return object;
}

}  // namespace heapsift
