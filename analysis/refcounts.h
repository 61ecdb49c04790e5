#pragma once

// Reference counts compared with the references found: what is held from outside Python's own structures, or
// leaked.

#include "analysis/kept_answers.h"
#include "analysis/native_holders.h"
#include "analysis/object_row.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapsift {

/// A word outside Python's memory that points at an object.
struct RefcountHolder {
    Address word;
    std::string place;  // "<libfoo.so cache+0x10>", "<block of C code>", "<native stack>"
    NativeHolder
        by;  // in full; its way is empty for a word that points at characters, and for a static object
};

struct RefcountRow {
    ObjectRow object;
    std::int64_t accounted = 0;  // references found from objects, running frames and the interpreter's state
    std::int64_t excess = 0;     // counted beyond these; below 0 a deficit: more were found than counted
    std::vector<RefcountHolder> holders;  // at most as many as are in excess
    std::int64_t leaked = 0;              // of the excess: references that no word of the saved memory can be
    /// Of the excess, what something that was not found may hold.
    std::int64_t open() const { return excess - static_cast<std::int64_t>(holders.size()) - leaked; }
};

struct RefcountType {
    std::string name;
    TypeId type = no_type;
    std::uint64_t objects = 0;
    std::int64_t excess = 0;  // below 0 in a table of deficits
    // of the excess: references for which a word was found; of a deficit: references from static objects
    std::uint64_t explained = 0;
    std::uint64_t leaked = 0;  // of the excess: references that no word of the saved memory can be
};

struct RefcountsResult {
    std::vector<RefcountRow> rows;      // unexplained excess first, then largest first; cut to the limit
    std::vector<RefcountType> types;    // by excess; all of them
    std::vector<RefcountRow> deficits;  // largest first; cut to the limit
    std::vector<RefcountType> deficit_types;
    // with excess: objects; references; those of them for which a word was found
    std::uint64_t objects = 0, excess = 0, explained = 0;
    std::uint64_t leaked = 0;  // of the excess: taken, and never given back
    std::uint64_t deficit_objects = 0, deficit = 0;
    // references from static objects: the compiler put them there, and they were never counted
    std::uint64_t deficit_explained = 0;
    std::uint64_t checked = 0, balanced = 0, immortal = 0;  // objects
    std::uint64_t counted = 0, accounted = 0;  // of those checked: references counted, and found from objects
    bool guesses = false;                      // some of those found are guesses
};

struct RefcountsQuery {
    std::vector<TypeId> types;  // only of these; empty: all
    std::size_t limit = 0;      // 0: all
};

/// For a heap with references; with blocks as nodes of the graph, marked pointers are found, and what holds is said
/// in full. Some 20 ns per object. `answers` may be null.
RefcountsResult refcounts(const HeapReader& heap, const RefcountsQuery& query,
                          const ProgressCallback& progress = {}, KeptAnswers* answers = nullptr);

}  // namespace heapsift
