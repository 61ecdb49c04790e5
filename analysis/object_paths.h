#pragma once

// What objects on a path are called: steps between two of them, suspended functions, and expressions of many
// at once.

#include "analysis/holding/root_paths.h"
#include "analysis/path_expression.h"

#include <optional>
#include <string>
#include <vector>

namespace heapsift {

/// Of the references that are followed from `source` to `target` the first that Python has a name for, else
/// the first; an empty one where there is none.
Reference step_between(const HeapReader& heap, ObjectId source, ObjectId target);

/// "suspended in poll(), app.py, now at line 12" of a generator, coroutine or asynchronous generator that
/// waits; else empty. Not escaped.
std::string suspended_words(const HeapReader& heap, ObjectId object);

/// Expressions of the cheapest paths of many objects, by one search. Objects that nothing reaches, and those
/// more than 64 steps from a root, have none. It refers to the graph: for the time of one call.
class ExpressionFinder {
public:
    struct Found {
        Root root;
        PathExpression expression;
    };
    ExpressionFinder(const HeapGraph& graph, const std::vector<ObjectId>& objects,
                     const ProgressCallback& progress = {});
    /// Of one of the objects; nothing where it has none.
    std::optional<Found> of(ObjectId object) const;

private:
    const HeapGraph& graph_;
    std::optional<RootPaths> paths_;
};

}  // namespace heapsift
