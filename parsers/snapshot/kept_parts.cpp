#include "parsers/snapshot/kept_parts.h"

#include "parsers/emulation/machine.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

namespace heapsift {
namespace {

constexpr auto layout_part = "layout", pools_part = "pools", types_part = "types", objects_part = "objects",
               sizes_part = "sizes", memory_part = "memory", lookup_part = "lookup",
               traversed_part = "traversed", references_part = "references", malloc_part = "malloc",
               native_part = "native", native_graph_part = "native graph";

template <class Part>
void learned_fields(FieldsOf<Part, LearnedFacts>& learned, Part& part) {
    part.list(learned.array_items, [](auto& items, Part& p) {
        p.number(items.descriptor);
        p.number(items.typecode);
        p.number(items.size);
    });
    part.list(learned.left_out, [](auto& range, Part& p) {
        p.number(range);
        p.require(range.start <= range.end, "a range ends before it begins");
    });
    part.list(learned.interned_tables, [](auto& dict, Part& p) { p.number(dict); });
    part.number(learned.general_lookup);
    part.number(learned.kept_arguments);
}

/// A build's name, to be equal when it is read: it is computed anew before.
template <class Part>
void equal_text(const std::string& now, Part& part) {
    std::string kept = now;
    part.text(kept);
    part.require(kept == now, "the interpreter is read in another way now");
}

template <class Part>
void build_fields(const PythonRuntime& python, Part& part) {
    equal_text(python.found_by, part);
    equal_text(python.layout_source, part);
}

template <class Part>
void types_fields(FieldsOf<Part, std::vector<Address>>& addresses, const PythonRuntime& python, Part& part) {
    build_fields(python, part);
    part.list(addresses, [](auto& address, Part& p) { p.number(address); });
    for (std::size_t i = 1; i < addresses.size(); ++i)
        part.require(addresses[i - 1] < addresses[i], "types are not in order");
}

template <class Part>
void objects_fields(FieldsOf<Part, FoundObjects>& objects, const PythonRuntime& python,
                    const TypeTable& types, Part& part) {
    build_fields(python, part);
    std::uint64_t type_count = types.size();
    part.number(type_count);
    part.require(type_count == types.size(), "there are other types now");
    AddressColumn::fields(objects.addresses, part, 1, ~std::uint64_t{0});
    TypeColumn::fields(objects.types, part, objects.addresses.size(), types.size());
    FoundByColumn::fields(objects.found_by, part, objects.addresses.size());
    part.require(objects.addresses.size() < no_object && objects.types.size() == objects.addresses.size() &&
                     objects.found_by.size() == objects.addresses.size(),
                 "the columns of objects have different lengths");
}

/// Compares the type of some objects, spread over all, with the word in the core.
void require_same_types(const FoundObjects& objects, const AddressSpace& memory, const Layout& layout,
                        const TypeTable& types) {
    constexpr std::uint64_t most = 4096;
    const std::uint64_t count = objects.addresses.size(), samples = std::min(most, count);
    for (std::uint64_t i = 0; i < samples; ++i) {
        const std::size_t object = i * count / samples;
        const auto type = memory.read<Address>(objects.addresses[object] + *layout.object.ob_type);
        if (type && *type != types[objects.types[object]].address)
            throw IndexDamage("an object is of another type in the core");
    }
}

void write_odd(const Diagnostics& odd, PartWriter& part) {
    part.list(odd.all(), [](const Diagnostic& one, PartWriter& p) {
        p.text(one.code);
        p.text(one.message);
        p.number(one.severity);
        p.number(one.count);
    });
}

void read_odd(Diagnostics& odd, PartReader& part) {
    std::vector<Diagnostic> all;
    part.list(all, [](Diagnostic& one, PartReader& p) {
        p.text(one.code);
        p.text(one.message);
        p.number(one.severity);
        p.number(one.count);
        p.require(one.severity <= Severity::damage, "a warning is of no kind");
    });
    for (const Diagnostic& one : all) odd.add(one);
}

template <class Part>
void memory_fields(FieldsOf<Part, MemoryRows>& memory, std::size_t types, Part& part) {
    part.list(memory.rows, [](auto& row, Part& p) {
        p.text(row.name);
        p.number(row.bytes);
        p.number(row.use);
        p.number(row.kind);
        p.require(row.use <= MemoryUse::reserved && row.kind <= MemoryKind::other,
                  "a row of memory is of no kind");
        p.list(row.parts, [](auto& one, Part& q) {
            q.text(one.name);
            q.number(one.bytes);
        });
    });
    part.number(memory.overlaps);
    part.list(memory.allocators, [](auto& row, Part& p) {
        p.text(row.name);
        for (auto* number : {&row.mapped, &row.in_use, &row.free, &row.trim, &row.reserved, &row.blocks,
                             &row.mapped_blocks, &row.mapped_bytes})
            p.number(*number);
        p.list(row.arenas, [](auto& arena, Part& q) { q.number(arena); });
    });
    part.list(memory.mappings, [](auto& row, Part& p) {
        p.number(row.range);
        for (auto* flag : {&row.readable, &row.writable, &row.executable, &row.saved}) p.number(*flag);
        p.number(row.shares);
    });
    for (auto* number : {&memory.sparse.arenas, &memory.sparse.free_bytes, &memory.sparse.blocks})
        part.number(*number);
    part.list(memory.sparse.types, [types](auto& row, Part& p) {
        p.number(row);
        p.require(row.type < types, "a type is out of range");
    });
}

template <class Part>
void native_fields(FieldsOf<Part, NativeBlocks>& native, std::size_t types, Part& part) {
    part.list(native.rows, [types](auto& row, Part& p) {
        p.number(row);
        p.require(row.from <= ReachedFrom::nothing, "a block is reached from nowhere that is known");
        p.require(row.from != ReachedFrom::objects || row.type < types, "a type is out of range");
    });
    part.number(native.count);
    std::uint64_t blocks = native.row_of.size();
    part.number(blocks);
    part.require(blocks <= std::numeric_limits<std::uint32_t>::max(), "there are too many blocks");
    CompactColumn<std::uint16_t>::fields(native.row_of, part, blocks);
}

}  // namespace

bool read_layout(IndexFile& index, KeptLayout& layout) {
    KeptLayout kept;
    if (!index.read(layout_part, [&](PartReader& part) { KeptLayout::fields(kept, part); })) return false;
    layout = std::move(kept);
    return true;
}

bool read_pools(IndexFile& index, const AddressSpace& memory, const PythonRuntime& python,
                FoundPools& found) {
    FoundPools read;
    if (!index.read(pools_part, [&](PartReader& part) {
            build_fields(python, part);
            Pymalloc::fields(read.pymalloc, part);
            read.pymalloc.attach(memory, python.layout);
            read_odd(read.odd, part);
        }))
        return false;
    found = std::move(read);
    return true;
}

bool read_malloc(IndexFile& index, const AddressSpace& memory, FoundMalloc& found) {
    FoundMalloc read;
    if (!index.read(malloc_part, [&](PartReader& part) {
            part.number(read.alone);
            MallocHeaps::fields(read.heaps, part);
            part.require(read.heaps.attach(memory, part.checks()), "malloc's heaps are others in the core");
        }))
        return false;
    found = std::move(read);
    return true;
}

std::vector<Address> read_types(IndexFile& index, const PythonRuntime& python) {
    std::vector<Address> read;
    const bool there = index.read(types_part, [&](PartReader& part) { types_fields(read, python, part); });
    return there ? read : std::vector<Address>();
}

bool read_objects(IndexFile& index, const AddressSpace& memory, const PythonRuntime& python,
                  const TypeTable& types, FoundHeap& found) {
    FoundHeap read;
    if (!index.read(objects_part, [&](PartReader& part) {
            objects_fields(read.objects, python, types, part);
            if (part.checks()) require_same_types(read.objects, memory, python.layout, types);
            learned_fields(read.learned, part);
            read_odd(read.odd, part);
        }))
        return false;
    found = std::move(read);
    return true;
}

bool read_sizes(IndexFile& index, HeapSnapshot& heap) {
    SizeColumn sizes;
    if (!index.read(sizes_part,
                    [&](PartReader& part) { SizeColumn::fields(sizes, part, heap.object_count()); }))
        return false;
    heap.sizes = std::move(sizes);
    return true;
}

bool read_memory(IndexFile& index, HeapSnapshot& heap) {
    MemoryRows memory;
    if (!index.read(memory_part, [&](PartReader& part) { memory_fields(memory, heap.types.size(), part); }))
        return false;
    heap.memory = std::move(memory);
    return true;
}

bool read_native(IndexFile& index, HeapSnapshot& heap) {
    NativeBlocks native;
    if (!index.read(native_part, [&](PartReader& part) { native_fields(native, heap.types.size(), part); }))
        return false;
    heap.native = std::move(native);
    return true;
}

std::optional<NativeGraph> kept_native_graph(IndexFile& index, const HeapSnapshot& heap) {
    NativeGraph graph;
    if (!index.read(native_graph_part,
                    [&](PartReader& part) { NativeGraph::fields(graph, part, heap.object_count()); }))
        return std::nullopt;
    return graph;
}

bool read_native_graph(IndexFile& index, HeapSnapshot& heap) {
    auto graph = kept_native_graph(index, heap);
    if (!graph) return false;
    heap.native_graph = std::move(*graph);
    return true;
}

bool read_lookup(IndexFile& index, HeapSnapshot& heap) {
    ObjectIndex lookup;
    if (!index.read(lookup_part,
                    [&](PartReader& part) { ObjectIndex::fields(lookup, part, heap.objects.addresses); }))
        return false;
    heap.index = std::move(lookup);
    return true;
}

bool read_traversed(IndexFile& index, HeapSnapshot& heap) {
    TraversedReferences traversed;
    if (!index.read(traversed_part, [&](PartReader& part) {
            std::string by;
            part.text(by);
            part.require(!by.empty() || !can_emulate(), "references can be read in a better way now");
            TraversedReferences::fields(traversed, part, heap.types.size());
        }))
        return false;
    heap.traversed = std::move(traversed);
    return true;
}

bool read_references(IndexFile& index, const PythonHeap& python, HeapSnapshot& heap) {
    ReferenceGraph references;
    if (!index.read(references_part,
                    [&](PartReader& part) { ReferenceGraph::fields(references, part, heap.object_count()); }))
        return false;
    references.set_frames(RunningFrames(python));
    heap.references = std::move(references);
    return true;
}

bool has_columns(const IndexFile& index, const Columns& columns) {
    return index.has(objects_part) && (!columns.sizes || index.has(sizes_part)) &&
           (!columns.memory || index.has(memory_part)) && (!columns.native || index.has(native_part)) &&
           (!columns.native_graph || index.has(native_graph_part)) &&
           (!columns.references ||
            (index.has(lookup_part) && index.has(traversed_part) && index.has(references_part)));
}

std::vector<PartWriter> parts_of(const HeapSnapshot& heap, const FoundBesides& found,
                                 const IndexFile* index) {
    std::vector<PartWriter> parts;
    const auto add = [&](const char* name, const auto& write) {
        if (!index || !index->has(name)) write(parts.emplace_back(name));
    };
    if (!found.layout.file.empty())
        add(layout_part, [&](PartWriter& part) { KeptLayout::fields(found.layout, part); });
    add(pools_part, [&](PartWriter& part) {
        build_fields(heap.python, part);
        Pymalloc::fields(found.allocations.pymalloc(), part);
        write_odd(found.odd_of_pools, part);
    });
    add(malloc_part, [&](PartWriter& part) {
        part.number(found.allocations.all().size() == 2);
        MallocHeaps::fields(found.allocations.malloc_heaps(), part);
    });
    add(types_part, [&](PartWriter& part) {
        std::vector<Address> addresses;
        for (TypeId type{0}; type < heap.types.size(); ++type) addresses.push_back(heap.types[type].address);
        types_fields(addresses, heap.python, part);
    });
    add(objects_part, [&](PartWriter& part) {
        objects_fields(heap.objects, heap.python, heap.types, part);
        learned_fields(found.learned, part);
        write_odd(found.odd_of_objects, part);
    });
    if (heap.sizes.there())
        add(sizes_part,
            [&](PartWriter& part) { SizeColumn::fields(*heap.sizes, part, heap.object_count()); });
    if (heap.memory.there())
        add(memory_part, [&](PartWriter& part) { memory_fields(*heap.memory, heap.types.size(), part); });
    if (heap.native.there())
        add(native_part, [&](PartWriter& part) { native_fields(*heap.native, heap.types.size(), part); });
    if (heap.native_graph.there())
        add(native_graph_part,
            [&](PartWriter& part) { NativeGraph::fields(*heap.native_graph, part, heap.object_count()); });
    if (!heap.index.empty())
        add(lookup_part,
            [&](PartWriter& part) { ObjectIndex::fields(heap.index, part, heap.objects.addresses); });
    if (heap.traversed.there())
        add(traversed_part, [&](PartWriter& part) {
            part.text(emulator_name());
            TraversedReferences::fields(*heap.traversed, part, heap.types.size());
        });
    if (heap.references.there())
        add(references_part,
            [&](PartWriter& part) { ReferenceGraph::fields(*heap.references, part, heap.object_count()); });
    return parts;
}

}  // namespace heapsift
