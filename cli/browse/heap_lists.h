#pragma once

// The lists of `browse`, made of one heap by the analyses that the commands ask: the same rows, one level at a time.
//
// What a list shows is decided here, and nothing is drawn: a list is numbers, subjects, and words that are made when
// rows come into view. Of a million rows the largest thousand are listed, and how much the others have; more of them where
// a person asks for more.

#include "analysis/largest_children.h"
#include "analysis/overview.h"
#include "analysis/suspects/suspects.h"
#include "analysis/threads.h"
#include "analysis/work.h"
#include "cli/browse/list.h"
#include "cli/usual_questions.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapsift {

/// Rows of a list at first, unless its Place says another number.
inline constexpr std::size_t most_browsed_rows = 1000;

/// The lines of another command's answer, as a page of so many columns has them.
using AnswerLines = std::function<std::vector<std::string>(Place::Command)>;

/// Refers to `work`, which must live as long, and so do the lists. Not thread-safe.
class HeapLists {
public:
    /// Computes what every list needs: graph, retained sizes, states, all paths, and what the first screen shows. Some
    /// seconds for ten million objects, a moment where they are kept.
    HeapLists(Work& work, AnswerLines answer);

    /// Throws what the analyses throw.
    std::shared_ptr<List> make(const Place& place);

    /// What is known of a subject, a line each.
    std::vector<Text> details(const Subject& subject);
    /// What Python calls it; empty where it has no such name.
    Expression expression(ObjectId object);
    /// What to type to see it: "show app.CACHE".
    Text command(const Subject& subject);

    /// The object that a list is about; `no_object` if it is about none.
    ObjectId object_of(const Place& place) const;

    const OverviewResult& overview() const { return overview_; }
    const HeapReader& heap() const { return graph_.heap(); }

    /// Marks it, or takes the mark away; and how many are marked.
    void mark(ObjectId object);
    bool is_marked(ObjectId object) const;
    const std::vector<ObjectId>& marks() const { return marks_; }

private:
    std::shared_ptr<List> suspects();
    std::shared_ptr<List> dominators(std::size_t most);
    std::shared_ptr<List> inside(const Place& place, bool shared);
    std::shared_ptr<List> types();
    std::shared_ptr<List> holders(const Place& place);
    std::shared_ptr<List> threads();
    std::shared_ptr<List> locals(const Place& place);
    std::shared_ptr<List> objects(const Place& place);
    std::shared_ptr<List> path(const Place& place);
    std::shared_ptr<List> edges(const Place& place, bool to_it);
    std::shared_ptr<List> answer(const Place& place);
    std::shared_ptr<List> marked();

    Subject subject_of(ObjectId object) const;
    Subject subject_of(NodeId node) const;
    Place opened(const Suspect& suspect) const;
    ListRow row_of(ObjectId object) const;
    void add_joint(NodeId node, List& list) const;
    Text words_of(ObjectId object) const;
    Text words_of(NodeId node) const;
    Text name_of(NodeId node);
    const ThreadsResult& found_threads();

    Work& work_;
    AnswerLines answer_;
    const HeapGraph& graph_;
    const RetainedSizes& sizes_;
    const ObjectStates& states_;
    const EveryRootPath& paths_;
    RetainedLookup retained_;
    ModuleNodes modules_;
    StructuralTargets structural_;
    OverviewResult overview_;
    SuspectsResult suspects_;
    std::shared_ptr<const ThreadsResult> threads_;
    std::vector<ObjectId> marks_;
    std::unordered_map<ObjectId, Expression> expressions_;
};

}  // namespace heapsift
