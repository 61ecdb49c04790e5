#pragma once

// What keeps an object alive: paths from roots down to it. (How paths are chosen: holding/root_paths.h; for
// all instances of a type: holders.h.)

#include "analysis/edges.h"
#include "analysis/holding/retained.h"
#include "analysis/holding/root_paths.h"
#include "analysis/path_expression.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct WhyStep {
    EdgeRow edge;
    std::uint64_t retained = 0;  // by its target
    std::string remark;  // of a target that is a suspended generator: "suspended in poll(), app.py, line 12";
                         // not escaped
};

struct WhyPath {
    Root root;
    Address root_address;    // the object at the root; of a running frame that is no object, the frame
    std::string root_words;  // not escaped
    std::optional<GroupKind> group_kind;
    std::string group;  // below which it hangs, "thread worker"; not escaped
    std::optional<EdgeRow>
        first;          // the reference of the root itself, where it has a name: a local of a frame
    ObjectRow at_root;  // brief
    std::uint64_t root_retained = 0;  // by the object at the root
    std::vector<WhyStep> steps;       // from there down; empty where the object itself hangs at the root
    PathExpression expression;
    bool disjoint = true;  // has no object in common with the paths before it, but for the ends
};

struct WhyResult {
    ObjectRow target;
    std::uint64_t retained = 0;
    Reach reach = Reach::named;
    std::string group;  // of those that hold it: "app", or "shared by several groups"
    std::vector<WhyPath> paths;
    std::uint64_t referrers = 0;  // references found that are followed, roots among them
    std::uint64_t references_found = 0, references_counted = 0;
    bool immortal = false;
    std::vector<WhyStep> cycle;  // of garbage: from it back to itself; empty where it is in none
    std::vector<WhyStep>
        from_cycle;  // of garbage that is in none: from garbage that nothing else holds, down to it
};

struct WhyQuery {
    std::size_t paths = 1;
    bool without_frames = false, without_tracebacks = false;
};

WhyResult why(const HeapGraph& graph, const RetainedSizes& sizes, ObjectId object, const WhyQuery& query,
              const ProgressCallback& progress = {});

}  // namespace heapsift
