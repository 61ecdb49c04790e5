#pragma once

// What keeps an object alive: paths from roots down to it. (How paths are chosen: holding/root_paths.h; for
// all instances of a type: holders.h.)

#include "analysis/edges.h"
#include "analysis/holding/retained.h"
#include "analysis/holding/root_paths.h"
#include "analysis/kept_answers.h"
#include "analysis/object_states.h"
#include "analysis/path_expression.h"
#include "analysis/path_lines.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

struct WhyStep {
    EdgeRow edge;
    std::uint64_t retained = 0;  // by its target
    // for a target that is a suspended generator: "suspended in poll(), app.py, line 12"; not escaped
    std::string remark;
};

/// A block of C code on a path.
struct WhyBlock {
    std::size_t place = 0;  // of the object on the path that it holds, itself or through the blocks behind it
    NativeEnd block;
    std::uint64_t retained = 0;
    std::uint64_t left_out = 0;  // blocks between it and the one before it
};

struct WhyPath {
    Root root;
    Address root_address;    // the object at the root; for a running frame without an object, the frame
    std::string root_words;  // not escaped
    std::optional<GroupKind> group_kind;
    std::string group;  // the one below which it hangs: "thread worker"; not escaped
    // the reference of the root itself, if it has a name: a local of a frame
    std::optional<EdgeRow> first;
    ObjectRow at_root;                // brief
    std::uint64_t root_retained = 0;  // by the object at the root
    std::vector<WhyStep> steps;       // from there down; empty if the object itself hangs at the root
    std::vector<WhyBlock> blocks;     // between these, or above all; by place, the outermost first
    PathExpression expression;
    std::vector<PathLine> lines;  // place 0 is the object at the root, 1 the target of the first step
    bool disjoint = true;         // shares no object with the paths before it, except the ends
};

struct WhyResult {
    ObjectRow target;
    std::uint64_t retained = 0;
    Reach reach = Reach::named;
    std::string group;  // the one that holds it: "app", or "shared by several groups"
    std::vector<WhyPath> paths;
    std::size_t asked_paths = 1;
    std::uint64_t referrers = 0;  // references found that are followed, including roots
    std::uint64_t references_found = 0, references_counted = 0;
    bool immortal = false;
    std::vector<WhyStep> cycle;  // for garbage: from it back to itself; empty if it is in no cycle
    // for garbage in no cycle: down to it from garbage that nothing else holds
    std::vector<WhyStep> from_cycle;
    std::vector<PathLine> garbage_lines;  // of whichever of these exists; place 0 is its beginning
};

struct WhyQuery {
    std::size_t paths = 1;
    bool without_frames = false, without_tracebacks = false;
    std::size_t lines = 0;  // per path, at most; 0: all
};

/// Lays out the paths of a result in at most `limit` lines each; 0: no limit. Part of `why`.
void lay_out(WhyResult& result, std::size_t limit);

/// `states`, if given, tell the state of the object; `every`, if given, its first path.
WhyResult why(const HeapGraph& graph, const RetainedSizes& sizes, ObjectId object, const WhyQuery& query,
              const ProgressCallback& progress = {}, const ObjectStates* states = nullptr,
              const EveryRootPath* every = nullptr, KeptAnswers* answers = nullptr);

}  // namespace heapsift
