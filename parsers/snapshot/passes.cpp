// The page of passes, in the order in which a heap is found:
//
//   interpreter         which CPython, of which build, with which layout; proved by what it points at
//   allocators          pymalloc's arenas, malloc's heaps, and which others there are
//   types               every type object, with the kind that knows its instances
//   collector's lists,  candidates, each with a second fact that proves it (builder.cpp); the lists are
//   blocks, proofs      walked if asking each object is not enough
//   what the heap says  facts that only the heap tells: items of arrays, interned strings, a dict's lookup,
//   of itself           memory that the dump left out
//
// What a question needs beyond the objects follows, when it asks for it:
//
//   sizes, or places    how large each object is, and which memory belongs to Python objects; places alone
//                       cost less
//   memory rows         who owns each mapped byte
//   types' own code     what objects report whose types nobody described
//   references,         who holds whom; which guesses are references, by counts; and what C code holds, of
//   guesses, natives    the counts still unexplained
//   native blocks       what malloc handed out to C code, from where it is reached, and what leads where
//   roots               modules, threads, frames
//
// A line that assigns to the snapshot is where a column appears. What a pass learns for the readers of single
// objects is stored here as well, never by the pass itself.

#include "parsers/snapshot/passes.h"

#include "parsers/base/in_pieces.h"
#include "parsers/base/text.h"
#include "parsers/cpython/build/object_header.h"
#include "parsers/cpython/garbage_variable.h"
#include "parsers/cpython/type_finder.h"
#include "parsers/memory/jemalloc.h"
#include "parsers/memory/musl.h"
#include "parsers/memory/other_allocators.h"
#include "parsers/memory/region_map.h"
#include "parsers/snapshot/array_items.h"
#include "parsers/snapshot/builder.h"
#include "parsers/snapshot/find_field_names.h"
#include "parsers/snapshot/find_traversed.h"
#include "parsers/snapshot/kept_parts.h"
#include "parsers/snapshot/learned_dicts.h"
#include "parsers/snapshot/left_out_mappings.h"
#include "parsers/snapshot/object_kinds.h"
#include "parsers/snapshot/owned_memory.h"
#include "parsers/snapshot/regions.h"
#include "parsers/snapshot/rows_of_memory.h"
#include "parsers/snapshot/untouched_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <optional>
#include <string_view>

namespace heapsift {
namespace {

/// sys.gettotalrefcount exists in debug builds only.
bool is_debug_build(const PythonHeap& python) {
    return !python.dict_value(python.runtime().interpreters.front().sysdict, "gettotalrefcount").is_null();
}

/// True if Python's debug hooks are on: looks for their mark before an object that every interpreter has.
bool has_debug_hooks(const CoreFile& core, const PythonRuntime& python) {
    const std::uint64_t header = collector_header_size(python.layout);
    const auto mark = core.memory().read<std::uint64_t>(python.interpreters.front().modules - header - 8);
    return mark && (*mark & ~std::uint64_t{0xff}) == 0xfdfdfdfdfdfdfd00;
}

/// Reports what of jemalloc's memory does not prove itself.
void note_doubts(const Jemalloc& jemalloc, Diagnostics& diagnostics) {
    const Jemalloc::Doubts& doubts = jemalloc.doubts();
    if (doubts.extents > 0)
        diagnostics.add(
            "jemalloc-extents-broken",
            fmt::format("{} of jemalloc's extents do not add up: their blocks are left out, or some "
                        "free ones are taken for blocks in use",
                        doubts.extents),
            Severity::damage);
    if (doubts.cached > 0)
        diagnostics.add(
            "jemalloc-caches-broken",
            fmt::format("{} entries in the caches of jemalloc's threads do not read: some of its free "
                        "blocks are taken for blocks in use",
                        doubts.cached),
            Severity::damage);
    if (doubts.no_caches)
        diagnostics.add(
            "jemalloc-caches-unknown",
            "no thread's cache of jemalloc is found: the free blocks in them are taken for blocks in use",
            Severity::note);
}

/// Reports allocators that heapsift cannot read, by name, and heaps that it could not follow to their end.
void note_allocators(const CoreFile& core, const Allocations& allocations, Diagnostics& diagnostics) {
    const MallocHeaps& heaps = allocations.malloc_heaps();
    if (const std::uint64_t broken = heaps.broken_heaps(); broken > 0)
        diagnostics.add(
            "malloc-heaps-broken",
            fmt::format(
                "{} of malloc's heaps break off in the middle: blocks behind that are judged one by one",
                broken),
            Severity::damage);
    const MallocState& state = heaps.state();
    const bool is_glibc = std::any_of(core.modules().begin(), core.modules().end(), [](const Module& module) {
        const std::string_view file = base_name(module.path);
        return file.starts_with("libc.so.") || file.starts_with("libc-2.");
    });
    if (is_glibc && !heaps.heaps().empty() && state.arenas.empty())
        diagnostics.add(
            "malloc-state-unknown",
            "malloc's own state does not read: blocks that it keeps for the next request are taken for "
            "blocks in use where they cannot be told from them",
            Severity::damage);
    if (state.broken_lists > 0)
        diagnostics.add(
            "malloc-lists-broken",
            fmt::format("{} of malloc's lists of free blocks break off: some of its free blocks are taken "
                        "for blocks in use",
                        state.broken_lists),
            Severity::damage);
    const auto note_unread = [&](std::string_view name) {
        diagnostics.add(
            "allocator-unknown",
            fmt::format("malloc is {}'s here, whose blocks heapsift does not read: `memory` has them as "
                        "mappings without a known owner, objects above 512 bytes that nothing but C "
                        "code refers to may be missing, and their memory is what was asked for",
                        name));
    };
    if (has_musl(core.memory(), core.modules())) note_unread("musl");
    for (const Module& module : core.modules()) {
        const std::string_view file = base_name(module.path);
        for (const char* name : {"libjemalloc", "libtcmalloc", "libmimalloc"}) {
            if (!file.starts_with(name) || allocations.has(name + 3)) continue;
            note_unread(name + 3);
        }
    }
}

/// Reports a captured core's note that contradicts the core. Cost: untouched_memory's.
void note_contradicted(const CoreFile& core, Diagnostics& diagnostics) {
    if (!core.absent_pages()) return;
    if (const std::uint64_t pages = untouched_memory(core).contradicted_pages; pages > 0)
        diagnostics.add("notes-damaged",
                        fmt::format("its note of pages that were never touched names {} that have bytes: "
                                    "these count as in use, and others may be wrong",
                                    pages),
                        Severity::damage);
}

/// Facts that only the heap tells. What is learned first is there for the next.
LearnedFacts learn(const FoundObjects& objects, const HeapSources& sources, Diagnostics& odd) {
    LearnedFacts learned;
    learned.array_items = learn_array_items(objects, *sources.access, odd);
    sources.python->set_learned_array_items(learned.array_items);
    learned.left_out = left_out_mappings(sources.core, objects, *sources.access);
    learned.interned_tables = find_interned_tables(sources.core, *sources.python);
    learned.general_lookup = find_general_lookup(objects, *sources.python);
    learned.kept_arguments = find_kept_arguments(sources.core, *sources.access);
    return learned;
}

}  // namespace

void find_heap(HeapSources& sources, HeapSnapshot& heap, Diagnostics& diagnostics,
               const ProgressCallback& progress) {
    const auto pass = [&](const char* name) {
        if (progress) progress(name, 0);
    };
    CoreFile& core = sources.core;
    const AddressSpace& memory = core.memory();

    pass("interpreter");
    if (sources.index) read_layout(*sources.index, sources.layout);
    heap.python = find_python_runtime(core, diagnostics, sources.layout, sources.runtime);

    pass("allocators");
    // needs no types
    FoundPools pools;
    if (!sources.index || !read_pools(*sources.index, memory, heap.python, pools))
        pools.pymalloc =
            Pymalloc::find(PythonHeap(memory, heap.python, heap.types), pools.odd, core.threads());
    for (const Diagnostic& odd : pools.odd.all()) diagnostics.add(odd);
    sources.odd_of_pools = std::move(pools.odd);

    pass("types");
    const std::vector<Address> kept_types =
        sources.index ? read_types(*sources.index, heap.python) : std::vector<Address>();
    heap.types = find_types(memory, heap.python, all_object_kinds(), core.modules(), pools.pymalloc.ranges(),
                            kept_types);
    sources.python = std::make_unique<PythonHeap>(memory, heap.python, heap.types);
    heap.python.debug = is_debug_build(*sources.python);
    find_garbage_variable(core, *sources.python, heap.python);

    pass("allocators");
    FoundMalloc malloc;
    const bool malloc_is_kept = sources.index && read_malloc(*sources.index, memory, malloc);
    std::vector<std::unique_ptr<const Allocator>> others;
    if (!malloc.alone) {
        if (auto jemalloc = Jemalloc::find(memory, core.modules(), core.threads())) {
            note_doubts(*jemalloc, diagnostics);
            others.push_back(std::move(jemalloc));
        }
        for (auto& other : find_other_allocators(core, diagnostics)) others.push_back(std::move(other));
    }
    if (!malloc_is_kept) {
        std::vector<AddressRange> not_of_malloc = pools.pymalloc.ranges();
        for (const auto& other : others) {
            const std::vector<AddressRange> ranges = other->ranges();
            not_of_malloc.insert(not_of_malloc.end(), ranges.begin(), ranges.end());
        }
        join_ranges(not_of_malloc);
        malloc.heaps = MallocHeaps::find(memory, core.threads(), not_of_malloc);
    }
    sources.allocations =
        std::make_unique<Allocations>(core, std::move(pools.pymalloc), std::move(malloc.heaps));
    for (auto& other : others) sources.allocations->add(std::move(other));
    sources.allocations->set_debug_hooks(has_debug_hooks(core, heap.python));
    note_allocators(core, *sources.allocations, diagnostics);
    sources.access = std::make_unique<ObjectAccess>(*sources.python, *sources.allocations);

    FoundHeap found;
    pass("the index");
    if (!sources.index || !read_objects(*sources.index, memory, heap.python, heap.types, found)) {
        pass("collector's lists");
        found.objects = find_objects(core, *sources.access, found.odd, progress);
        pass("what the heap says of itself");
        found.learned = learn(found.objects, sources, found.odd);
        note_contradicted(core, found.odd);
    }
    heap.objects = std::move(found.objects);
    if (!found.learned.left_out.empty()) core.add_not_saved(found.learned.left_out);
    sources.python->set_learned_array_items(found.learned.array_items);
    sources.python->set_interned_tables(found.learned.interned_tables);
    sources.python->set_general_lookup(found.learned.general_lookup);
    sources.python->set_kept_arguments(found.learned.kept_arguments);
    sources.learned = std::move(found.learned);
    for (const Diagnostic& odd : found.odd.all()) diagnostics.add(odd);
    sources.odd_of_objects = std::move(found.odd);
}

void add_columns(const HeapSources& sources, HeapSnapshot& heap, const ColumnWishes& wishes,
                 const ProgressCallback& progress) {
    const auto pass = [&](const char* name) {
        if (progress) progress(name, 0);
    };
    const CoreFile& core = sources.core;
    const ObjectAccess& access = *sources.access;
    bool sizes = wishes.columns.sizes && !heap.sizes.there();
    bool memory = wishes.columns.memory && !heap.memory.there();
    bool references = wishes.columns.references && !heap.references.there();
    const bool roots = wishes.columns.roots && !heap.roots.there();
    bool native = wishes.columns.native && !heap.native.there();
    bool native_graph = wishes.columns.native_graph && !heap.native_graph.there();

    IndexFile* const index = sources.index;
    if (index) {
        pass("the index");
        native = native && !read_native(*index, heap);
        native_graph = native_graph && !read_native_graph(*index, heap);
    }
    references = references || ((native || native_graph) && !heap.references.there());
    if (index) {
        sizes = sizes && !read_sizes(*index, heap);
        memory = memory && !read_memory(*index, heap);
        if (references && heap.index.empty()) read_lookup(*index, heap);
        if (references && read_traversed(*index, heap)) {
            sources.access->set_traversed(*heap.traversed);
            references = !read_references(*index, *sources.python, heap);
        }
    }

    OwnedPlaces places;
    if (sizes && !memory && !references && !native && !native_graph) {
        heap.sizes = measure_sizes(heap.objects, access, progress);
    } else if (sizes || memory) {
        OwnedMemory owned = measure_objects(heap.objects, access, progress);
        if (sizes) heap.sizes = std::move(owned.sizes);
        places = std::move(owned.places);
    } else if (references || native || native_graph) {
        places = find_places(heap.objects, access, progress);
    }

    if (memory) {
        pass("memory rows");
        const Regions regions = map_regions(core, *sources.allocations, places, heap.objects);
        assert(regions.shares.sum() == core.extent().mapped_bytes);
        heap.memory = memory_rows(regions, core, *sources.allocations);
    }

    if (references) {
        pass("index of objects");
        // Types' own code runs in children, for which somebody waits.
        in_any_order(2, [&](std::size_t part) {
            if (part == 0 && heap.index.empty()) heap.index = ObjectIndex(heap.objects.addresses);
            if (part == 0 || heap.traversed.there()) return;
            TraversedReferences traversed = find_traversed(core, heap.objects, access, progress);
            traversed.set_field_names(find_field_names(core, heap.objects, access, progress));
            heap.traversed = std::move(traversed);
        });
        sources.access->set_traversed(*heap.traversed);
        OwnedPlaces used_up = native || native_graph ? places : std::move(places);
        heap.references =
            build_reference_graph(core, heap.objects, access, heap.index, std::move(used_up), progress);
    }

    if (native || native_graph) {
        NativeMemory found =
            find_native_blocks(core, access, heap.objects, places, *heap.references, native_graph, progress);
        if (!heap.native.there()) heap.native = std::move(found.blocks);
        if (native_graph) heap.native_graph = std::move(found.graph);
    }

    if (roots) {
        pass("roots");
        heap.roots = RootSet(core, *sources.python, heap.objects, wishes.hide_thread_names);
    }
}

}  // namespace heapsift
