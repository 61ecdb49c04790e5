#pragma once

// The first screen: what process this was, where its memory is, the largest types.

#include "analysis/array_holders.h"
#include "analysis/array_lists.h"
#include "analysis/top_holders.h"
#include "analysis/types.h"
#include "analysis/work.h"

namespace heapsift {

/// The first sentence: the one fact about this memory that matters most, of those known.
struct OverviewHeadline {
    enum class Kind {
        pinned,       // array data that slices keep alive and do not show: OverviewResult::pinned
        holder,       // one object, or a few together, hold a good part: the first of OverviewResult::holders
        array_data,   // array elements are the largest part; `type` is the array type that owns most of them
        objects,      // instances of `type` are the largest part that one type has
        other_memory  // no type has much: the largest row of the memory table, `region`
    } kind = Kind::other_memory;
    std::uint64_t bytes = 0;  // of `mapped_bytes`
    std::string region;
    std::optional<TypeRow> type;
    bool all_in_type = false;  // array_data: `type` owns 99 % of it or more
};

struct OverviewResult {
    std::vector<MemoryRow> memory;  // largest first; adds up to mapped_bytes
    std::uint64_t mapped_bytes = 0;
    std::uint64_t memory_overlaps = 0;      // MemoryRows::overlaps
    std::vector<TopHolder> holders;         // largest first
    std::uint64_t object_memory = 0;        // bytes of all objects
    std::uint64_t garbage_memory = 0;       // of it, of those that no root reaches
    std::uint64_t garbage_list_memory = 0;  // of it, of those that gc.garbage alone holds
    bool garbage_is_much = false, garbage_list_is_much = false;  // 1 % of the memory or more
    // why most of it is still there; empty where it is little, or not known
    std::string garbage_remark, garbage_list_remark;
    TypesResult types;                     // sorted by memory, cut to the limit
    std::optional<ArrayHolderRow> pinned;  // by unseen bytes the first, where they are worth a sentence
    std::uint64_t pinned_owners = 0, pinned_bytes = 0;  // all there are, and what of them nobody sees
    std::uint64_t dropped_frames = 0;  // pandas DataFrames that are gone, of which slices keep all
    OverviewHeadline headline;
    std::vector<std::string> dominant_types;  // by name (analysis/dominant_types.h)
};

/// It has the references, dominators and paths computed.
OverviewResult overview(Work& work, std::size_t type_limit);

/// The same of what keeps memory: is the first holder worth the first sentence?
bool holder_is_headline(const OverviewResult& result);

/// Is the array data that slices keep and do not show, `unseen` bytes, the largest thing there is to say?
bool pinned_is_headline(const OverviewResult& result, std::uint64_t unseen);

/// Chooses the headline from rows that are sorted, largest first; `all_types` are uncut.
OverviewHeadline choose_headline(const std::vector<MemoryRow>& memory, std::uint64_t mapped_bytes,
                                 const std::vector<TypeRow>& all_types);

}  // namespace heapsift
