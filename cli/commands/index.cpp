// heapsift index: everything that later questions need, computed ahead of them.

#include "cli/commands/index.h"

#include "analysis/arrays.h"
#include "analysis/cycles.h"
#include "analysis/doctor.h"
#include "analysis/dominators.h"
#include "analysis/gc.h"
#include "analysis/holders.h"
#include "analysis/kept_types.h"
#include "analysis/memory.h"
#include "analysis/objects.h"
#include "analysis/overview.h"
#include "analysis/refcounts.h"
#include "analysis/retained_types.h"
#include "cli/question.h"
#include "cli/render/index.h"
#include "cli/usual_questions.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>

#include <optional>

namespace heapsift {
namespace {

/// The two tables of types that are asked for most: by people, and by programs.
void keep_types(Question& question, const ProgressCallback& progress) {
    std::optional<TypesResult> all;
    for (const std::size_t limit : {rows_for_people, std::size_t{0}}) {
        kept_types(question.answers(), question.heap(), SortKey::retained, limit, [&] {
            if (!all) all = types(question.filled(), SortKey::retained, 0, progress);
            TypesResult result = *all;
            add_retained(result, question.graph(), question.retained(), SortKey::retained, limit, progress);
            return result;
        });
    }
}

/// What the other commands find without options, for people and for programs. Their words are not printed.
void keep_usual_answers(Question& question, const ProgressCallback& progress) {
    Work& work = question.work();
    const HeapReader& heap = work.heap();
    KeptAnswers* answers = question.answers();
    const HeapGraph& graph = question.graph();
    const RetainedSizes& sizes = question.retained();
    const RetainedLookup retained(graph, sizes);
    for (const bool people : {true, false}) {
        ArraysQuery query;
        query.rows = people ? rows_for_people : 0;
        query.every_frame = !people;
        arrays(work, query);
    }
    overview(work, overview_rows);
    cycles(work, {});
    DominatorsQuery tree;
    tree.depth = dominators_depth;
    tree.limit = dominators_rows_for_people;
    tree.least = retained.memory(graph.root()) / dominators_parts_for_people;
    DominatorsAnswer(graph, sizes, tree, progress, answers);
    gc(heap, rows_for_people, false, progress, answers, &question.states().collection);
    for (const std::size_t limit : {rows_for_people, std::size_t{0}})
        refcounts(heap, {.types = {}, .limit = limit}, progress, answers);
    for (const SortKey sort : {SortKey::memory, SortKey::retained}) {
        ObjectsQuery query;
        query.sort = sort;
        query.limit = rows_for_people;
        objects(heap, query, &retained, progress, answers);
    }
    holders(graph, {}, {}, browsed_holders, progress, answers, &sizes);
    doctor(heap, progress, answers);
    memory(heap, false, 0, answers);
}

ExitCode run_index(Session& session) {
    if (session.options().no_index)
        throw wrong_usage("bad-option", "index with --no-index has nothing to do", "leave --no-index out");
    if (session.words().process)
        throw wrong_usage(
            "bad-option", "index: of a living process no index is kept",
            command_line(fmt::format("capture {} -o FILE", *session.words().process)) + ", and then of that");
    session.leave_core_in_use();
    Question question(session, {Need::memory, Need::native, Need::retained, Need::states});
    question.states();
    question.work().every_path();
    keep_types(question, session.progress());
    keep_usual_answers(question, session.progress());
    return session.write(render_index(session.write_index()));
}

}  // namespace

CommandRunner setup_index(CommandOptions&) { return run_index; }

}  // namespace heapsift
