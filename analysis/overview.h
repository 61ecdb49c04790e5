#pragma once

// The first screen: what process this was, where its memory is, the largest types.

#include "analysis/array_holders.h"
#include "analysis/array_lists.h"
#include "analysis/cycle_reasons.h"
#include "analysis/native.h"
#include "analysis/top_holders.h"
#include "analysis/types.h"
#include "analysis/work.h"

namespace heapsift {

/// The first sentence: of the facts known about this memory, the one that matters most.
struct OverviewHeadline {
    enum class Kind {
        pinned,       // array data that slices keep alive and do not show: OverviewResult::pinned
        holder,       // one object, or a few together, keep much alive: the first of OverviewResult::holders
        array_data,   // array elements are the largest part; `type` is the array type that owns most of them
        objects,      // instances of `type` are the largest part that belongs to one type
        other_memory  // no type has much: `region` is the largest row of the memory table
    } kind = Kind::other_memory;
    std::uint64_t bytes = 0;  // of `in_use_bytes`
    std::string region;
    std::optional<TypeRow> type;
    bool all_in_type = false;  // array_data: `type` owns at least 99 % of it
};

struct OverviewResult {
    std::vector<MemoryRow> memory;  // what is in use first, and largest first; adds up to mapped_bytes
    std::uint64_t mapped_bytes = 0;
    std::uint64_t in_use_bytes = 0, reserved_bytes = 0;  // of these; all shares are of what is in use
    std::uint64_t memory_overlaps = 0;                   // MemoryRows::overlaps
    std::vector<TopHolder> holders;                      // largest first: a few
    std::vector<TopHolder> more_holders;                 // and others, down to a fifth of their least size
    std::uint64_t object_memory = 0;                     // bytes of all objects
    std::uint64_t garbage_memory = 0;                    // the part that no root reaches
    std::uint64_t garbage_list_memory = 0;               // the part that only gc.garbage holds
    bool garbage_is_much = false, garbage_list_is_much = false;  // at least 1 % of what is in use
    TypeId garbage_type = no_type;  // a class in Python: of garbage that is much, most hangs on its instances
    std::uint64_t garbage_type_count = 0;
    ObjectId garbage_example = no_object;  // one of these
    std::string garbage_type_name;  // not escaped
    // why most of it has not been freed; empty if there is little of it, or the reason is not known
    std::string garbage_remark, garbage_list_remark;
    std::optional<CycleReason> garbage_reason, garbage_list_reason;  // the same
    TypesResult types;                                               // sorted by memory, cut to the limit
    std::optional<ArrayHolderRow> pinned;  // the first by unseen bytes, if they are worth a sentence
    bool pinned_tensor = false;            // it is a tensor of torch
    std::uint64_t pinned_owners = 0, pinned_bytes = 0;  // all of them, and their bytes that nothing shows
    std::uint64_t dropped_frames = 0;  // pandas DataFrames that are gone, but kept whole by slices
    // Arenas of pymalloc that a few objects keep open (parsers/snapshot/sparse_arenas.h), and what is free in them
    std::uint64_t sparse_arenas = 0, sparse_bytes = 0;
    OverviewHeadline headline;
    bool python_is_small = false;             // the culprit has more than all of Python's objects
    std::optional<NativeCulprit> culprit;     // what most of C code's memory is, if that is the headline
    std::vector<std::string> dominant_types;  // by name (analysis/dominant_types.h)
};

/// Computes the references, dominators and paths.
OverviewResult overview(Work& work, std::size_t type_limit);

/// True if the first holder is worth the first sentence.
bool holder_is_headline(const OverviewResult& result);

/// True if memory that the program freed, and Python and malloc keep, is by far the largest finding: half of what is in
/// use, 32 MiB, and twice as much as any other.
bool free_is_headline(const OverviewResult& result);

/// True if the array data that slices keep and do not show, `unseen` bytes, is the largest finding.
bool pinned_is_headline(const OverviewResult& result, std::uint64_t unseen);

/// Chooses the headline from rows sorted by size, largest first; `all_types` must be uncut.
OverviewHeadline choose_headline(const std::vector<MemoryRow>& memory, std::uint64_t in_use_bytes,
                                 const std::vector<TypeRow>& all_types);

}  // namespace heapsift
