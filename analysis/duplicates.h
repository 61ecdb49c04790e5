#pragma once

// Equal values: how many objects are one value, what one copy of it would save, and who holds them.

#include "analysis/content_hashes.h"
#include "analysis/holder_names.h"
#include "analysis/holding/heap_graph.h"
#include "analysis/kept_answers.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// What to change so that there is one copy.
enum class DuplicateFix : std::uint8_t {
    intern,          // str: sys.intern
    category,        // str in columns: a categorical one
    numeric_column,  // numbers in columns or arrays of objects: a dtype of numbers
    number_array,    // numbers in lists and tuples: array.array, NumPy
    one_number,      // other numbers: a cache
    one_object,      // bytes, tuples, frozensets: a cache
    one_array,       // arrays: one that nobody writes to
    collect          // nothing reaches most of them
};

/// One value.
struct DuplicateValue {
    ObjectId first = no_object;  // the copy of the lowest address
    std::uint32_t count = 0;     // copies
    std::uint64_t size = 0, memory = 0,
                  saves = 0;          // bytes of all copies; `saves`: of `memory`, all but what stays
    std::uint64_t holders_begin = 0;  // in `holders_of_values`
    std::uint8_t holders = 0;         // how many there
    bool more_holders = false;
    DuplicateFix fix = DuplicateFix::intern;
};

/// All values of one type.
struct DuplicateType {
    TypeId type = no_type;
    std::string name;
    std::uint64_t count = 0, values = 0;            // objects, and how many different values they are
    std::uint64_t duplicated = 0;                   // values with more than one copy
    std::uint64_t size = 0, memory = 0, saves = 0;  // of values with more than one copy
};

struct DuplicatesResult {
    std::vector<DuplicateValue> values;  // by `saves`, then memory, then the lowest address; cut to the limit
    struct HolderOfValue {
        std::uint32_t holder, count;  // the holder: in `names`
    };
    std::vector<HolderOfValue> holders_of_values;  // most first
    std::vector<HolderCount> names;                // `count` and `saves` are not theirs
    std::vector<DuplicateType> types;              // by `saves`; those that save something
    std::vector<HolderCount> by_holder;            // by `saves`, largest first; at most a hundred
    std::uint64_t total_values = 0;                // these: of all values with more than one copy
    std::uint64_t total_count = 0, total_size = 0, total_memory = 0, total_saves = 0;
    std::uint64_t shown_saves = 0;  // of `values`
    std::uint64_t looked_at = 0;    // objects that are values
    std::uint64_t constants = 0;    // left out: only code holds them
    std::uint64_t unread = 0;       // left out: their bytes are not in the core, or they are damaged
    bool names_threads = false;     // a holder has a name that the program gave to a thread
    std::uint64_t unequal = 0;      // values left out, since their bytes differ although their hashes do not
};

/// Of values with the same saving and memory the one at the lowest address is first. `limit` 0: all values,
/// some 150 bytes each while it works, then 60. Reads each value once; 9 to 13 bytes an object besides.
/// `labels`: without wishes.
DuplicatesResult duplicates(const HeapGraph& graph, const HolderLabeler& labels, std::size_t limit,
                            const ProgressCallback& progress = {});
/// The same with labels of its own: 150 to 300 ns and 12 bytes an object. `answers` may be null.
DuplicatesResult duplicates(const HeapGraph& graph, std::size_t limit, const ProgressCallback& progress,
                            KeptAnswers* answers);

/// A value as a table shows it.
struct DuplicateRow {
    Address address;  // of the first copy
    std::string type;
    ShortValue value;
    std::vector<HolderCount> holders;
};
DuplicateRow duplicate_row(const HeapReader& heap, const DuplicatesResult& result,
                           const DuplicateValue& value);

}  // namespace heapsift
