#pragma once

// What objects on a path are called: steps between two of them, suspended functions, and expressions of many
// at once.

#include "analysis/holding/root_paths.h"
#include "analysis/kept_answers.h"
#include "analysis/path_expression.h"

#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapsift {

/// Of the references that are followed from `source` to `target` the first that Python has a name for, else
/// the first; an empty one where there is none.
Reference step_between(const HeapReader& heap, ObjectId source, ObjectId target);

/// The same of many pairs. Each source is read once, however many of its targets are asked for, as of a dict
/// of 200,000 entries that are all shown: when the first is. Memory: 8 bytes per pair; some 200 for each target of the
/// sources that were asked for last, 64 of them and as many more as have `most_steps` targets together. Not thread-safe;
/// it refers to the heap.
class StepsBetween {
public:
    struct Pair {
        ObjectId source, target;
        friend auto operator<=>(const Pair&, const Pair&) = default;
    };

    StepsBetween() = default;
    static constexpr std::size_t usual_steps = 1 << 16;
    StepsBetween(const HeapReader& heap, std::vector<Pair> pairs, std::size_t most_steps = usual_steps);

    /// Of one of the pairs: what step_between gives.
    Reference of(ObjectId source, ObjectId target) const;

private:
    struct StepsOfSource {
        ObjectId source = no_object;
        std::size_t first = 0;         // of its pairs
        std::vector<Reference> steps;  // of each of them
    };
    const StepsOfSource& steps_of(ObjectId source) const;
    StepsOfSource read(ObjectId source) const;

    const HeapReader* heap_ = nullptr;
    std::size_t most_steps_ = usual_steps;
    std::vector<Pair> pairs_;                  // sorted
    mutable std::list<StepsOfSource> recent_;  // what was asked for last comes first
    mutable std::unordered_map<std::uint32_t, std::list<StepsOfSource>::iterator> by_source_;
    mutable std::size_t steps_there_ = 0;
};

/// "suspended in poll(), app.py, now at line 12" of a generator, coroutine or asynchronous generator that
/// waits; else empty. Not escaped.
std::string suspended_words(const HeapReader& heap, ObjectId object);

/// The cheapest paths of some objects, without the rest of the search; kept.
struct PathLinks {
    struct Link {
        ObjectId object = no_object;
        ObjectId previous = no_object;  // on its path; `no_object` if it hangs at a root
    };
    std::vector<Link> links;  // by object; of each object on a path

    /// From the object at the root down to `object`, both included; empty if it has none of at most 64 steps.
    std::vector<ObjectId> path(ObjectId object) const;
    /// The one before `object` on its path; `no_object` at a root, and where `object` is on none.
    ObjectId previous(ObjectId object) const;

    std::size_t rows() const { return links.size(); }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        part.list(self.links, [&](auto& link, Part& p) {
            kept_object(link.object, p, heap);
            kept_object_or_none(link.previous, p, heap);
        });
        for (std::size_t i = 1; i < self.links.size(); ++i)
            part.require(self.links[i - 1].object < self.links[i].object, "a path is not in order");
    }
};

/// Expressions of the cheapest paths of many objects, by one search. Objects that nothing reaches, and those
/// more than 64 steps from a root, have none. It refers to the graph: for the time of one call.
class ExpressionFinder {
public:
    struct Found {
        Root root;
        PathExpression expression;
    };
    ExpressionFinder(const HeapGraph& graph, const std::vector<ObjectId>& objects,
                     const ProgressCallback& progress = {}, KeptAnswers* answers = nullptr);
    /// Of one of the objects; nothing where it has none.
    std::optional<Found> of(ObjectId object) const;
    /// The same of an object by way of one of them, which refers to it.
    std::optional<Found> by_way_of(ObjectId source, ObjectId object) const;
    /// True if the path of `object`, one of those on a path, comes to it from `source`.
    bool comes_from(ObjectId source, ObjectId object) const { return paths_.previous(object) == source; }
    /// That step. Requires comes_from.
    Reference step(ObjectId source, ObjectId object) const { return steps_.of(source, object); }
    /// The objects on the path of one of them, itself included; empty where it has none.
    std::vector<ObjectId> path(ObjectId object) const { return paths_.path(object); }

private:
    /// Of a path, or of an object behind it.
    std::optional<Found> express(std::vector<ObjectId> path, ObjectId behind) const;

    const HeapGraph& graph_;
    PathLinks paths_;
    StepsBetween steps_;
};

}  // namespace heapsift
