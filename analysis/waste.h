#pragma once

// Memory that the same content would not need: unused room in containers, a dict for each instance, an object
// for each number, equal values, arrays with a wider dtype than their values need.

#include "analysis/duplicates.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

enum class WasteSort : std::uint8_t {
    list_room,
    dict_room,
    set_room,
    bytearray_room,
    instance_dicts,  // __slots__ would save them
    boxed_floats,    // in lists and tuples
    boxed_ints,
    boxed_bools,
    duplicates,  // all equal values
    arrays       // all arrays (array_waste.h)
};

/// Objects of one sort and type that are held in one way. Of instances all of their class, whoever holds
/// them.
struct WasteRow {
    WasteSort sort = WasteSort::list_room;
    std::string type;    // of the objects; empty for `duplicates`
    HolderCount holder;  // of most of them; `count` and `saves` are not its own
    std::uint64_t count = 0;
    std::uint64_t bytes = 0, saves = 0;  // memory now; what could be saved of it
    ObjectId example = no_object;        // the one that wastes most
    Address example_address;
};

struct WasteResult {
    std::vector<WasteRow> rows;     // by `saves`, largest first; cut to the limit
    std::uint64_t total_rows = 0;   // of at least `least_waste` bytes
    std::uint64_t total_saves = 0;  // of these; rows may tell of the same bytes
    std::uint64_t damaged = 0;      // objects left out
    bool names_threads = false;     // as in DuplicatesResult
};

inline constexpr std::uint64_t least_waste = 1024;

/// Rows that save less than `least_waste` bytes are left out. Needs what `duplicates` does, and reads the
/// data of arrays as `array_waste` does; some 50 ns more for each container and instance. `limit` 0: all
/// rows.
WasteResult waste(const HeapGraph& graph, const HolderLabeler& labels, std::size_t limit,
                  const ProgressCallback& progress = {});
/// The same with labels of its own. `answers` may be null.
WasteResult waste(const HeapGraph& graph, std::size_t limit, const ProgressCallback& progress,
                  KeptAnswers* answers);

}  // namespace heapsift
