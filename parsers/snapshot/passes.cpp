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
//   native blocks       what malloc handed out to C code, and from where it is reached
//   references,         who holds whom; which guesses are references, by counts; and what C code holds, of
//   guesses, natives    the counts still unexplained
//   roots               modules, threads, frames
//
// A line that assigns to the snapshot is where a column appears. What a pass learns for the readers of single
// objects is stored here as well, never by the pass itself.

#include "parsers/snapshot/passes.h"

#include "parsers/base/text.h"
#include "parsers/cpython/type_finder.h"
#include "parsers/snapshot/array_items.h"
#include "parsers/snapshot/builder.h"
#include "parsers/snapshot/kept_parts.h"
#include "parsers/snapshot/learned_dicts.h"
#include "parsers/snapshot/left_out_mappings.h"
#include "parsers/snapshot/object_kinds.h"
#include "parsers/snapshot/owned_memory.h"
#include "parsers/snapshot/regions.h"
#include "parsers/snapshot/rows_of_memory.h"

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
    const std::uint64_t header = *python.layout.gc_head.size;
    const auto mark = core.memory().read<std::uint64_t>(python.interpreters.front().modules - header - 8);
    return mark && (*mark & ~std::uint64_t{0xff}) == 0xfdfdfdfdfdfdfd00;
}

/// Reports allocators that heapsift cannot read, by name, and heaps that it could not follow to their end.
void note_allocators(const CoreFile& core, const MallocHeaps& heaps, Diagnostics& diagnostics) {
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
    for (const Module& module : core.modules()) {
        const std::string_view file = base_name(module.path);
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

/// Facts that only the heap tells. What is learned first is there for the next.
LearnedFacts learn(const FoundObjects& objects, const HeapSources& sources, Diagnostics& odd) {
    LearnedFacts learned;
    learned.array_items = learn_array_items(objects, *sources.access, odd);
    sources.python->set_learned_array_items(learned.array_items);
    learned.left_out = left_out_mappings(sources.core, objects, *sources.access);
    learned.interned_tables = find_interned_tables(sources.core, *sources.python);
    learned.general_lookup = find_general_lookup(objects, *sources.python);
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
    heap.python = find_python_runtime(core, diagnostics);

    pass("allocators");
    // needs no types
    FoundPools pools;
    if (!sources.index || !read_pools(*sources.index, memory, heap.python, pools))
        pools.pymalloc = Pymalloc::find(PythonHeap(memory, heap.python, heap.types), pools.odd);
    for (const Diagnostic& odd : pools.odd.all()) diagnostics.add(odd);
    sources.odd_of_pools = std::move(pools.odd);

    pass("types");
    const std::vector<Address> kept_types =
        sources.index ? read_types(*sources.index, heap.python) : std::vector<Address>();
    heap.types = find_types(memory, heap.python, all_object_kinds(), core.modules(), pools.pymalloc.ranges(),
                            kept_types);
    sources.python = std::make_unique<PythonHeap>(memory, heap.python, heap.types);
    heap.python.debug = is_debug_build(*sources.python);

    pass("allocators");
    MallocHeaps heaps = MallocHeaps::find(memory, core.threads(), pools.pymalloc.ranges());
    sources.allocations = std::make_unique<Allocations>(core, std::move(pools.pymalloc), std::move(heaps));
    sources.allocations->set_debug_hooks(has_debug_hooks(core, heap.python));
    note_allocators(core, sources.allocations->malloc_heaps(), diagnostics);
    sources.access = std::make_unique<ObjectAccess>(*sources.python, *sources.allocations);

    FoundHeap found;
    pass("the index");
    if (!sources.index || !read_objects(*sources.index, memory, heap.python, heap.types, found)) {
        pass("collector's lists");
        found.objects = find_objects(core, *sources.access, found.odd, progress);
        pass("what the heap says of itself");
        found.learned = learn(found.objects, sources, found.odd);
    }
    heap.objects = std::move(found.objects);
    if (!found.learned.left_out.empty()) core.add_not_saved(found.learned.left_out);
    sources.python->set_learned_array_items(found.learned.array_items);
    sources.python->set_interned_tables(found.learned.interned_tables);
    sources.python->set_general_lookup(found.learned.general_lookup);
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

    if (IndexFile* const index = sources.index) {
        pass("the index");
        sizes = sizes && !read_sizes(*index, heap);
        memory = memory && !read_memory(*index, heap);
        if (references && heap.index.empty()) read_lookup(*index, heap);
        references = references && !read_references(*index, *sources.python, heap);
        native = native && !read_native(*index, heap);
    }

    OwnedPlaces places;
    if (sizes && !memory && !references && !native) {
        heap.sizes = measure_sizes(heap.objects, access, progress);
    } else if (sizes || memory) {
        OwnedMemory owned = measure_objects(heap.objects, access, progress);
        if (sizes) heap.sizes = std::move(owned.sizes);
        places = std::move(owned.places);
    } else if (references || native) {
        places = find_places(heap.objects, access, progress);
    }

    if (memory) {
        pass("memory rows");
        const Regions regions = map_regions(core, *sources.allocations, places, heap.objects);
        assert(regions.shares.sum() == core.extent().mapped_bytes);
        heap.memory = memory_rows(regions, core, *sources.allocations);
    }

    if (native) heap.native = find_native_blocks(core, access, heap.objects, places, progress);

    if (references) {
        pass("index of objects");
        if (heap.index.empty()) heap.index = ObjectIndex(heap.objects.addresses);
        heap.references =
            build_reference_graph(core, heap.objects, access, heap.index, std::move(places), progress);
    }

    if (roots) {
        pass("roots");
        heap.roots = RootSet(core, *sources.python, heap.objects, wishes.hide_thread_names);
    }
}

}  // namespace heapsift
