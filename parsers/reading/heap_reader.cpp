#include "parsers/reading/heap_reader.h"

// A page of named passes: interpreter, types, allocators, objects. Everything later is asked of the result.

#include "parsers/cpython/build/collector.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/cpython/type_finder.h"
#include "parsers/snapshot/allocations.h"
#include "parsers/snapshot/array_items.h"
#include "parsers/snapshot/builder.h"
#include "parsers/snapshot/learned_dicts.h"
#include "parsers/snapshot/left_out_mappings.h"
#include "parsers/snapshot/object_access.h"
#include "parsers/snapshot/object_kinds.h"
#include "parsers/snapshot/reference_graph.h"
#include "parsers/snapshot/regions.h"
#include "parsers/snapshot/reported_references.h"
#include "parsers/snapshot/thread_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <string_view>

namespace heapsift {

struct HeapReader::State {
    explicit State(CoreFile c) : core(std::move(c)) {}
    CoreFile core;
    PythonRuntime python;
    TypeTable types;
    std::unique_ptr<PythonHeap> heap;
    std::unique_ptr<Allocations> allocations;
    std::unique_ptr<ObjectAccess> access;
    FoundObjects objects;
    mutable std::optional<ObjectIndex> index;
    mutable std::optional<OwnedMemory> owned;
    mutable std::optional<ReferenceGraph> references;
    bool thread_names_hidden = false;
};

HeapReader::HeapReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
HeapReader::HeapReader(HeapReader&&) noexcept = default;
HeapReader& HeapReader::operator=(HeapReader&&) noexcept = default;
HeapReader::~HeapReader() = default;

namespace {

/// Python's debug hooks, by the mark before an object that every interpreter has; and allocators that
/// heapsift cannot read, by name.
void find_allocator(const CoreFile& core, const PythonRuntime& python, Allocations& allocations,
                    Diagnostics& diagnostics) {
    const std::uint64_t header = *python.layout.gc_head.size;
    const auto mark = core.memory().read<std::uint64_t>(python.interpreters.front().modules - header - 8);
    allocations.set_debug_hooks(mark && (*mark & ~std::uint64_t{0xff}) == 0xfdfdfdfdfdfdfd00);
    for (const Module& module : core.modules()) {
        const std::string_view file = std::string_view(module.path).substr(module.path.rfind('/') + 1);
        for (const char* name : {"libjemalloc", "libtcmalloc", "libmimalloc"}) {
            if (!file.starts_with(name)) continue;
            diagnostics.add("allocator-unknown",
                            fmt::format("malloc is {}'s here, whose blocks heapsift does not read: objects "
                                        "above 512 bytes that nothing but C code "
                                        "refers to may be missing, and their memory is what was asked for",
                                        name + 3));
        }
    }
}

}  // namespace

HeapReader HeapReader::build(CoreFile core, Diagnostics& diagnostics, const ProgressCallback& progress) {
    auto report = [&](const char* pass) {
        if (progress) progress(pass, 0);
    };
    auto state = std::make_unique<State>(std::move(core));
    report("interpreter");
    state->python = find_python_runtime(state->core, diagnostics);
    const AddressSpace& memory = state->core.memory();
    report("allocators");
    // asks for no type
    Pymalloc pymalloc = Pymalloc::find(PythonHeap(memory, state->python, state->types), diagnostics);
    report("types");
    state->types =
        find_types(memory, state->python, all_object_kinds(), state->core.modules(), pymalloc.ranges());
    state->heap = std::make_unique<PythonHeap>(memory, state->python, state->types);
    // sys.gettotalrefcount exists in debug builds only.
    state->python.debug =
        !state->heap->dict_value(state->python.interpreters.front().sysdict, "gettotalrefcount").is_null();
    report("allocators");
    state->allocations =
        std::make_unique<Allocations>(state->core, std::move(pymalloc), MallocHeaps::find(memory));
    if (const std::uint64_t broken = state->allocations->malloc_heaps().broken_heaps(); broken > 0)
        diagnostics.add(
            "malloc-heaps-broken",
            fmt::format(
                "{} of malloc's heaps break off in the middle: blocks behind that are judged one by one",
                broken),
            Severity::damage);
    find_allocator(state->core, state->python, *state->allocations, diagnostics);
    state->access = std::make_unique<ObjectAccess>(*state->heap, *state->allocations);
    report("collector's lists");
    state->objects = find_objects(state->core, *state->access, diagnostics, progress);
    report("what the heap says of itself");
    state->heap->set_learned_array_items(learn_array_items(state->objects, *state->access, diagnostics));
    if (const auto ranges = left_out_mappings(state->core, state->objects, *state->access); !ranges.empty())
        state->core.add_not_saved(ranges);
    state->heap->set_interned_tables(find_interned_tables(state->core, *state->heap));
    state->heap->set_general_lookup(find_general_lookup(state->objects, *state->heap));
    return HeapReader(std::move(state));
}

const CoreFile& HeapReader::core() const { return state_->core; }
const PythonRuntime& HeapReader::python() const { return state_->python; }
const TypeTable& HeapReader::types() const { return state_->types; }
const PythonHeap& HeapReader::python_heap() const { return *state_->heap; }
std::size_t HeapReader::object_count() const { return state_->objects.addresses.size(); }
Address HeapReader::address_of(ObjectId object) const { return state_->objects.addresses[object]; }
TypeId HeapReader::type_of(ObjectId object) const { return state_->objects.types[object]; }
FoundBy HeapReader::found_by(ObjectId object) const { return state_->objects.found_by[object]; }

ObjectId HeapReader::find(Address address) const {
    if (state_->index) return state_->index->find(address);
    const auto& all = state_->objects.addresses;
    const auto it = std::lower_bound(all.begin(), all.end(), address);
    return it != all.end() && *it == address ? static_cast<ObjectId>(it - all.begin()) : no_object;
}

ObjectFacts HeapReader::facts(ObjectId object) const {
    return state_->access->facts(address_of(object), state_->types[type_of(object)]);
}

CollectorFacts HeapReader::collector_facts(ObjectId object) const {
    const Address address = address_of(object);
    const TypeInfo& type = state_->types[type_of(object)];
    const Layout& layout = state_->python.layout;
    const bool has_header = state_->access->is_gc(address, type);
    const std::uint32_t header = has_header ? *layout.gc_head.size : 0;
    const std::uint64_t count = header + *layout.object.ob_refcnt;
    const AddressSpace::Window fields(state_->core.memory(), address - header,
                                      count + std::uint64_t{sizeof(std::int64_t)});
    CollectorFacts facts;
    facts.refcount = fields.read<std::int64_t>(count).value_or(0);
    facts.immortal = is_immortal_count(layout, static_cast<std::uint64_t>(facts.refcount));
    facts.tracked = has_header && fields.read<std::uint64_t>(*layout.gc_head.next).value_or(0) != 0;
    facts.finalized =
        facts.tracked && fields.read<std::uint64_t>(*layout.gc_head.prev).value_or(0) & collector_finalized;
    return facts;
}

void HeapReader::sizes(ObjectId first, std::span<ObjectSizes> out) const {
    constexpr std::size_t ahead = 16;
    const ObjectAccess& access = *state_->access;
    auto fetch = [&](std::size_t i) {
        const auto object = static_cast<ObjectId>(first + i);
        access.fetch_parts(address_of(object), state_->types[type_of(object)]);
    };
    for (std::size_t i = 0; i < std::min(ahead, out.size()); ++i) fetch(i);
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (i + ahead < out.size()) fetch(i + ahead);
        const auto object = static_cast<ObjectId>(first + i);
        out[i] = access.sizes(address_of(object), state_->types[type_of(object)]);
    }
}

void HeapReader::hide_thread_names(bool hide) { state_->thread_names_hidden = hide; }
bool HeapReader::thread_names_hidden() const { return state_->thread_names_hidden; }

ShortValue HeapReader::value(ObjectId object, std::size_t limit) const {
    return state_->access->value(address_of(object), state_->types[type_of(object)], limit);
}

namespace {

/// Puts references into words, and guesses into what became of them; those to `only`, unless that is null.
struct PutIntoWords : ReferenceVisitor {
    PutIntoWords(const HeapReader& h, const ObjectAccess& a,
                 const std::function<void(ObjectId, const Reference&)>& v)
        : heap(h), access(a), visit_named(v) {}
    void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
        if (!only.is_null() && target != only) return;
        bool followed = is_owned(kind), proved = false;
        if (kind == ReferenceKind::guess) {
            if (heap.find(target) == no_object) return;
            const GuessVerdict verdict = heap.references().verdict(source, name.number);
            if (verdict == GuessVerdict::refused) return;
            proved = verdict == GuessVerdict::proved;
            if (proved) kind = ReferenceKind::hidden;
            followed = true;
        }
        Reference reference = access.named(target, kind, name);
        reference.proved = proved;
        reference.followed = followed;
        visit_named(source, reference);
    }
    const HeapReader& heap;
    const ObjectAccess& access;
    const std::function<void(ObjectId, const Reference&)>& visit_named;
    ObjectId source = no_object;
    Address only;
};

/// What is owned, and an object.
struct ForwardOwned : ReferenceVisitor {
    ForwardOwned(const HeapReader& h, const ReferenceGraph& g, ObjectId s, OwnedReferenceVisitor& v)
        : heap(h), graph(g), source(s), owned(v) {}
    void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
        if (kind == ReferenceKind::weak || kind == ReferenceKind::reported) return;
        const ObjectId object = heap.find(target);
        if (object == no_object) return;
        if (kind == ReferenceKind::guess && graph.verdict(source, name.number) == GuessVerdict::refused)
            return;
        owned.visit(object, name);
    }
    const HeapReader& heap;
    const ReferenceGraph& graph;
    ObjectId source;
    OwnedReferenceVisitor& owned;
};

struct FindBuffer : BufferVisitor {
    FindBuffer(const Allocations& a, Address t) : allocations(a), target(t) {}
    void visit(Address start, std::uint64_t bytes, bool) override {
        if (target >= start && target - start < std::max(bytes, allocations.bytes_of(start, bytes)))
            found = true;
    }
    const Allocations& allocations;
    Address target;
    bool found = false;
};

}  // namespace

void HeapReader::visit_references(ObjectId object, const std::function<void(const Reference&)>& visit) const {
    const std::function<void(ObjectId, const Reference&)> forward = [&](ObjectId, const Reference& r) {
        visit(r);
    };
    PutIntoWords words(*this, *state_->access, forward);
    words.source = object;
    state_->access->visit_references(address_of(object), state_->types[type_of(object)], words);
}

void HeapReader::visit_references_to(ObjectId source, ObjectId target,
                                     const std::function<void(const Reference&)>& visit) const {
    const std::function<void(ObjectId, const Reference&)> forward = [&](ObjectId, const Reference& r) {
        visit(r);
    };
    PutIntoWords words(*this, *state_->access, forward);
    words.only = address_of(target);
    words.source = source;
    state_->access->visit_references(address_of(source), state_->types[type_of(source)], words);
}

void HeapReader::visit_owned_references(ObjectId object, OwnedReferenceVisitor& visit) const {
    ForwardOwned forward(*this, references(), object, visit);
    state_->access->visit_references(address_of(object), state_->types[type_of(object)], forward);
}

void HeapReader::visit_referrers(ObjectId target,
                                 const std::function<void(ObjectId, const Reference&)>& visit) const {
    PutIntoWords words(*this, *state_->access, visit);
    words.only = address_of(target);
    for (ObjectId id{0}; id < object_count(); ++id) {
        words.source = id;
        state_->access->visit_references(address_of(id), state_->types[type_of(id)], words);
    }
    for (const NativeReference& native : references().natives())
        if (native.target == target) visit(no_object, native_reference(native));
}

void HeapReader::visit_native_references(const std::function<void(const Reference&)>& visit) const {
    for (const NativeReference& native : references().natives()) visit(native_reference(native));
}

Reference HeapReader::native_reference(const NativeReference& native) const {
    Reference reference;
    reference.target = address_of(native.target);
    reference.kind = ReferenceKind::native;
    reference.word = native.word;
    reference.step = named_step(native_place(state_->core, *state_->heap, references().frames(), native));
    return reference;
}

const ReferenceGraph& HeapReader::references(const ProgressCallback& progress) const {
    if (!state_->references) {
        OwnedMemory& owned = owned_memory(progress);
        if (progress) progress("index of objects", 0);
        if (!state_->index) state_->index.emplace(state_->objects.addresses);
        state_->references =
            build_reference_graph(state_->core, state_->objects.addresses, state_->objects.types,
                                  *state_->access, *state_->index, owned, progress);
        state_->owned->forget_places();  // the larger part of it, and asked for no more
    }
    return *state_->references;
}

ReportedReferences HeapReader::reported_references(std::span<const std::uint8_t> asked,
                                                   const ProgressCallback& progress) const {
    const ReferenceGraph& graph = references(progress);
    return gather_reported_references(state_->objects.addresses, state_->objects.types, asked,
                                      *state_->access, *state_->index, graph, progress);
}

AddressFinding HeapReader::locate(Address address) const {
    using Kind = AddressFinding::Kind;
    if (const ObjectId exact = find(address); exact != no_object) return {Kind::object, exact, no_object};
    const auto& all = state_->objects.addresses;
    const auto above = std::upper_bound(all.begin(), all.end(), address);
    ObjectId nearest = no_object;
    if (above != all.end()) nearest = static_cast<ObjectId>(above - all.begin());
    // The object itself may begin a header's length above the address.
    if (nearest != no_object) {
        const TypeInfo& type = state_->types[type_of(nearest)];
        if (*above - address <= state_->access->presize(*above, type))
            return {Kind::inside_object, nearest, no_object};
    }
    if (above != all.begin()) {
        const auto below = above - 1;
        const auto id = static_cast<ObjectId>(below - all.begin());
        const TypeInfo& type = state_->types[type_of(id)];
        const Address start = *below - state_->access->presize(*below, type);
        const std::uint64_t block =
            std::max(state_->allocations->bytes_of(start, state_->access->requested(*below, type)),
                     state_->access->requested(*below, type));
        if (address - start < block) return {Kind::inside_object, id, no_object};
        if (nearest == no_object || address - *below <= *above - address) nearest = id;
    }
    const ByteState bytes = state_->core.memory().state_of(address);
    if (bytes == ByteState::unmapped) return {Kind::unmapped, no_object, nearest};
    if (const auto block = state_->allocations->pymalloc().block_at(address); block && !block->in_use)
        return {Kind::free_block, no_object, nearest};
    FindBuffer buffers(*state_->allocations, address);
    for (ObjectId id{0}; id < object_count(); ++id) {
        state_->access->visit_buffers(address_of(id), state_->types[type_of(id)], buffers);
        if (buffers.found) return {Kind::buffer_of_object, id, nearest};
    }
    return {bytes == ByteState::not_saved ? Kind::not_saved : Kind::other_memory, no_object, nearest};
}

OwnedMemory& HeapReader::owned_memory(const ProgressCallback& progress) const {
    if (!state_->owned)
        state_->owned.emplace(state_->objects.addresses, state_->objects.types, *state_->access, progress);
    return *state_->owned;
}

const SizeColumn& HeapReader::size_column(const ProgressCallback& progress) const {
    return owned_memory(progress).sizes();
}

HeapReader::MemoryRows HeapReader::memory_rows(const ProgressCallback& progress) const {
    std::optional<OwnedMemory> anew;
    const OwnedMemory* owned = &owned_memory(progress);
    if (!owned->places_known()) {
        anew.emplace(state_->objects.addresses, state_->objects.types, *state_->access, progress);
        owned = &*anew;
    }
    if (progress) progress("memory rows", 0);
    const Regions regions = map_regions(state_->core, *state_->allocations, *owned);
    const MemoryShares& shares = regions.shares;
    assert(shares.sum() == state_->core.extent().mapped_bytes);
    MemoryRows result;
    result.overlaps = regions.overlaps;
    result.rows = {{"array data", shares[MemoryOwner::array_data]},
                   {"Python objects", shares[MemoryOwner::objects]},
                   {"free, kept by Python and malloc", shares[MemoryOwner::free]},
                   {"program files and their data", shares[MemoryOwner::files]},
                   {"thread stacks", shares[MemoryOwner::stacks]},
                   {"other: C/C++ memory, Python's own tables",
                    shares[MemoryOwner::c_code] + shares[MemoryOwner::headers] +
                        shares[MemoryOwner::not_saved] + shares[MemoryOwner::other]}};
    std::stable_sort(result.rows.begin(), result.rows.end() - 1,
                     [](const MemoryRow& a, const MemoryRow& b) { return a.bytes > b.bytes; });
    return result;
}

}  // namespace heapsift
