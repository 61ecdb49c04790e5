#include "parsers/reading/core_heap.h"

#include "parsers/cpython/build/collector.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/build/refcount.h"
#include "parsers/memory/block_numbers.h"
#include "parsers/snapshot/kept_parts.h"
#include "parsers/snapshot/kept_stacks.h"
#include "parsers/snapshot/reported_references.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heapsift {

CoreHeap::CoreHeap(std::unique_ptr<HeapSnapshot> heap, std::unique_ptr<HeapSources> sources)
    : HeapReader(*heap),
      heap_(std::move(heap)),
      sources_(std::move(sources)),
      kept_stacks_(kept_object_stacks(*sources_->python, *sources_->allocations)) {}

CoreHeap CoreHeap::open(CoreFile core, Diagnostics& diagnostics, const ProgressCallback& progress,
                        IndexFile* index, std::size_t runtime) {
    auto sources = std::make_unique<HeapSources>(std::move(core));
    sources->index = index;
    sources->runtime = runtime;
    auto heap = std::make_unique<HeapSnapshot>();
    find_heap(*sources, *heap, diagnostics, progress);
    return {std::move(heap), std::move(sources)};
}

CoreHeap CoreHeap::open(CoreFile core, Columns columns, Diagnostics& diagnostics,
                        const ProgressCallback& progress) {
    CoreHeap opened = open(std::move(core), diagnostics, progress);
    opened.add({columns}, progress);
    return opened;
}

std::uint64_t CoreHeap::most_native_blocks() const {
    const MallocHeaps& heaps = sources_->allocations->malloc_heaps();
    const auto& objects = snapshot().objects.addresses;
    const auto before = [&](Address address) {
        return std::lower_bound(objects.begin(), objects.end(), address) - objects.begin();
    };
    std::uint64_t of_objects = 0;
    for (const MallocHeaps::Heap& heap : heaps.heaps())
        of_objects += static_cast<std::uint64_t>(before(heap.range.end) - before(heap.range.start));
    const std::vector<AddressRange> added =
        sources_->allocations->added_blocks();  // by address, as objects are
    auto object = objects.begin();
    for (const AddressRange& block : added) {
        while (object != objects.end() && *object < block.start) ++object;
        of_objects += object != objects.end() && *object < block.end ? 1 : 0;
    }
    const std::uint64_t blocks = BlockNumbers(heaps).size() + added.size();
    return blocks - std::min(of_objects, blocks);
}

ObjectFacts CoreHeap::facts(ObjectId object) const {
    return access().facts(heap_->address_of(object), type_info(object));
}

CollectorFacts CoreHeap::collector_facts(ObjectId object) const {
    const Address address = heap_->address_of(object);
    const TypeInfo& type = type_info(object);
    const Layout& layout = heap_->python.layout;
    const bool has_header = access().is_gc(address, type);
    if (has_collector_bits(layout)) {
        const std::uint64_t stored = references_counted(access().heap(), address);
        const auto bits = core().memory().read<std::uint8_t>(address + *layout.object.ob_gc_bits).value_or(0);
        CollectorFacts facts;
        facts.refcount = static_cast<std::int64_t>(stored);
        facts.immortal = is_immortal_count(layout, stored);
        facts.tracked = has_header && (bits & gc_bit_tracked) != 0;
        facts.finalized = facts.tracked && (bits & gc_bit_finalized) != 0;
        return facts;
    }
    const std::uint32_t header = has_header ? *layout.gc_head.size : 0;
    const std::uint32_t count = header + *layout.object.ob_refcnt;
    const AddressSpace::Window fields(core().memory(), address - header,
                                      count + std::uint64_t{sizeof(std::int64_t)});
    CollectorFacts facts;
    const auto word = [&](std::uint32_t at) { return fields.read<std::uint64_t>(at).value_or(0); };
    const std::uint64_t stored = count_in_word(layout, word(count));
    facts.refcount = static_cast<std::int64_t>(stored);
    facts.immortal = is_immortal_count(layout, stored);
    facts.tracked = has_header && header_is_tracked(layout, word);
    facts.finalized = facts.tracked && header_is_finalized(layout, word);
    return facts;
}

void CoreHeap::sizes(ObjectId first, std::span<ObjectSizes> out) const {
    constexpr std::size_t ahead = 16;
    auto fetch = [&](std::size_t i) {
        const auto object = static_cast<ObjectId>(first + i);
        access().fetch_parts(heap_->address_of(object), type_info(object));
    };
    for (std::size_t i = 0; i < std::min(ahead, out.size()); ++i) fetch(i);
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (i + ahead < out.size()) fetch(i + ahead);
        const auto object = static_cast<ObjectId>(first + i);
        out[i] = access().sizes(heap_->address_of(object), type_info(object));
    }
}

ShortValue CoreHeap::value(ObjectId object, std::size_t limit) const {
    return access().value(heap_->address_of(object), type_info(object), limit);
}

namespace {

/// Puts references into words, and replaces guesses by what became of them. Passes on only those to `only`,
/// unless that is null.
struct PutIntoWords : ReferenceVisitor {
    PutIntoWords(const HeapSnapshot& h, const ObjectAccess& a,
                 const std::function<void(ObjectId, const Reference&)>& v)
        : heap(h), access(a), visit_named(v) {}
    void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
        if (!only.empty() && !std::binary_search(only.begin(), only.end(), target)) return;
        bool followed = is_owned(kind), proved = false;
        if (kind == ReferenceKind::guess) {
            if (heap.find(target) == no_object) return;
            const GuessVerdict verdict = heap.references->verdict(source, heap.type_of(source), name.number);
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
    const HeapSnapshot& heap;
    const ObjectAccess& access;
    const std::function<void(ObjectId, const Reference&)>& visit_named;
    ObjectId source = no_object;
    std::vector<Address> only;  // sorted; empty: all
};

/// Passes on references that are owned and lead to an object.
struct ForwardOwned : ReferenceVisitor {
    ForwardOwned(const HeapSnapshot& h, const ReferenceGraph& g, ObjectId s, OwnedReferenceVisitor& v)
        : heap(h), graph(g), source(s), owned(v) {}
    void visit(Address target, ReferenceKind kind, const ReferenceName& name) override {
        if (kind == ReferenceKind::weak || kind == ReferenceKind::reported) return;
        const ObjectId object = heap.find(target);
        if (object == no_object) return;
        if (kind == ReferenceKind::guess &&
            graph.verdict(source, heap.type_of(source), name.number) == GuessVerdict::refused)
            return;
        owned.visit(object, name);
    }
    const HeapSnapshot& heap;
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

/// Visits only references to `only` (sorted), or all if it is empty.
void CoreHeap::visit_named(ObjectId source, std::vector<Address> only,
                           const std::function<void(ObjectId, const Reference&)>& visit) const {
    PutIntoWords words(*heap_, access(), visit);
    words.only = std::move(only);
    words.source = source;
    access().visit_references(heap_->address_of(source), type_info(source), words);
}

void CoreHeap::visit_references(ObjectId object, const std::function<void(const Reference&)>& visit) const {
    visit_named(object, {}, [&](ObjectId, const Reference& reference) { visit(reference); });
}

void CoreHeap::visit_references_to(ObjectId source, std::span<const ObjectId> targets,
                                   const std::function<void(const Reference&)>& visit) const {
    std::vector<Address> only;  // ids follow addresses
    for (const ObjectId target : targets) only.push_back(heap_->address_of(target));
    if (only.empty()) return;
    visit_named(source, std::move(only), [&](ObjectId, const Reference& reference) { visit(reference); });
}

void CoreHeap::visit_owned_references(ObjectId object, OwnedReferenceVisitor& visit) const {
    ForwardOwned forward(*heap_, *heap_->references, object, visit);
    access().visit_references(heap_->address_of(object), type_info(object), forward);
}

void CoreHeap::visit_referrers(ObjectId target,
                               const std::function<void(ObjectId, const Reference&)>& visit) const {
    PutIntoWords words(*heap_, access(), visit);
    words.only = {heap_->address_of(target)};
    const std::vector<ObjectId> owning = heap_->references->sources_of(target),
                                others = heap_->references->unowned_sources_of(target);
    std::vector<ObjectId> sources;
    std::set_union(owning.begin(), owning.end(), others.begin(), others.end(), std::back_inserter(sources));
    for (const ObjectId source : sources) {
        words.source = source;
        access().visit_references(heap_->address_of(source), type_info(source), words);
    }
    visit_natives([&](const NativeReference& native) {
        if (native.target == target) visit(no_object, native_reference(native));
    });
}

void CoreHeap::visit_native_references(const std::function<void(const Reference&)>& visit) const {
    visit_natives([&](const NativeReference& native) { visit(native_reference(native)); });
}

/// By word. Also marked pointers, if blocks are nodes of the graph: these are not among the references.
void CoreHeap::visit_natives(const std::function<void(const NativeReference&)>& visit) const {
    const auto by_word = [](const NativeReference& a, const NativeReference& b) { return a.word < b.word; };
    const auto natives = heap_->references->natives();
    std::vector<NativeReference> marked;
    if (heap_->native_graph.there())
        for (const NativeGraph::Held& held : heap_->native_graph->held())
            if (const NativeReference one{held.word, held.object};
                !std::binary_search(natives.begin(), natives.end(), one, by_word))
                marked.push_back(one);
    std::sort(marked.begin(), marked.end(), by_word);
    auto next = marked.begin();
    for (const NativeReference& native : natives) {
        for (; next != marked.end() && next->word < native.word; ++next) visit(*next);
        visit(native);
    }
    for (; next != marked.end(); ++next) visit(*next);
}

void CoreHeap::visit_native_blocks(const std::function<void(Address start, std::uint32_t row)>& visit) const {
    const NativeBlocks& native = *heap_->native;
    const BlockNumbers numbers(sources_->allocations->malloc_heaps(), {},
                               sources_->allocations->added_blocks());
    if (native.row_of.size() != numbers.size()) return;
    numbers.visit([&](const BlockNumbers::Block& block) {
        const std::uint64_t row = native.row_of[block.number];
        if (row > 0 && row <= native.rows.size()) visit(block.start, static_cast<std::uint32_t>(row - 1));
    });
}

Reference CoreHeap::native_reference(const NativeReference& native) const {
    Reference reference;
    reference.target = heap_->address_of(native.target);
    reference.kind = ReferenceKind::native;
    reference.word = native.word;
    reference.step = named_step(native_place(core(), python_heap(), heap_->references->frames(), native));
    return reference;
}

ReportedReferences CoreHeap::reported_references(std::span<const std::uint8_t> asked,
                                                 const ProgressCallback& progress) const {
    return gather_reported_references(heap_->objects.addresses, heap_->objects.types, asked, access(),
                                      heap_->index, *heap_->references, progress);
}

bool CoreHeap::handed_out(Address address) const {
    const auto above = std::upper_bound(kept_stacks_.begin(), kept_stacks_.end(), address,
                                        [](Address a, const AddressRange& r) { return a < r.start; });
    if (above != kept_stacks_.begin() && std::prev(above)->contains(address)) return false;
    return sources_->allocations->is_static(address) || sources_->allocations->in_allocated_block(address);
}

/// A block in the graph is no object's buffer (native_blocks.cpp). False as well if neither heap nor index has them.
bool CoreHeap::is_known_block(Address address) const {
    if (heap_->native_graph.there()) return heap_->native_graph->find(address) != no_block;
    if (!sources_->index) return false;
    const auto kept = kept_native_graph(*sources_->index, *heap_);
    return kept && kept->find(address) != no_block;
}

AddressFinding CoreHeap::locate(Address address) const {
    using Kind = AddressFinding::Kind;
    if (const ObjectId exact = heap_->find(address); exact != no_object)
        return {Kind::object, exact, no_object};
    const auto& all = heap_->objects.addresses;
    const auto above = std::upper_bound(all.begin(), all.end(), address);
    ObjectId nearest = no_object;
    if (above != all.end()) nearest = static_cast<ObjectId>(above - all.begin());
    // The address may be in the header in front of the next object.
    if (nearest != no_object) {
        const TypeInfo& type = type_info(nearest);
        if (*above - address <= access().presize(*above, type))
            return {Kind::inside_object, nearest, no_object};
    }
    if (above != all.begin()) {
        const auto below = above - 1;
        const auto id = static_cast<ObjectId>(below - all.begin());
        const TypeInfo& type = type_info(id);
        const Address start = *below - access().presize(*below, type);
        const std::uint64_t requested = access().requested(*below, type);
        const Allocations::Held held = sources_->allocations->held(start, requested);
        if (address - start < std::max(held.bytes - std::min(held.before, held.bytes), requested))
            return {Kind::inside_object, id, no_object};
        if (nearest == no_object || address - *below <= *above - address) nearest = id;
    }
    const ByteState bytes = core().memory().state_of(address);
    if (bytes == ByteState::unmapped) return {Kind::unmapped, no_object, nearest};
    if (const auto block = sources_->allocations->pymalloc().block_at(address); block && !block->in_use)
        return {Kind::free_block, no_object, nearest};
    const std::size_t end = is_known_block(address) ? 0 : heap_->object_count();
    FindBuffer buffers(*sources_->allocations, address);
    for (ObjectId id{0}; id < end; ++id) {
        access().visit_buffers(heap_->address_of(id), type_info(id), buffers);
        if (buffers.found) return {Kind::buffer_of_object, id, nearest};
    }
    return {bytes == ByteState::not_saved ? Kind::not_saved : Kind::other_memory, no_object, nearest};
}

}  // namespace heapsift
