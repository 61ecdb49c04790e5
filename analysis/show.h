#pragma once

// One object in full: what it is, what it refers to, what refers to it.

#include "analysis/edges.h"
#include "analysis/holding/retained.h"
#include "analysis/kept_answers.h"
#include "analysis/object_states.h"
#include "analysis/source_line.h"
#include "parsers/libraries/library_objects.h"

namespace heapsift {

struct ShowResult {
    ObjectRow object;
    std::string found_by;                 // for people
    std::optional<LibraryFacts> library;  // of a type of which one is known; `file` of a mapping, too
    // The calls that allocated its block, the most recent one last; empty where tracemalloc did not record them.
    std::vector<SourceLine> allocated_at;
    EdgeList referents;
    EdgeList referrers;  // `owned` of them were found: compare with the reference count

    // From here on by `add_holder`, as are `retained` and `state` of the object.
    bool holder_computed = false;
    std::optional<ObjectRow> dominator;  // nothing if it is not an object: a group, or several
    std::string group;                   // its only holder, else "shared by several groups"; not escaped
    std::uint64_t retained_size = 0;     // ObjectSizes::size of everything it retains
};

/// For a heap with references and roots. Cost: one pass over it.
ShowResult show(const HeapReader& heap, ObjectId object, std::size_t limit,
                const ProgressCallback& progress = {}, KeptAnswers* answers = nullptr);

/// What the object retains, what holds it, and its state. Cost: one pass over what is reached through it; of
/// much, that is kept.
void add_holder(ShowResult& result, const RetainedLookup& retained, const ObjectStates& states,
                KeptAnswers* answers = nullptr);

}  // namespace heapsift
