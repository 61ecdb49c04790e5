// heapsift index: everything that later questions need, computed ahead of them.

#include "cli/commands/index.h"

#include "analysis/kept_types.h"
#include "analysis/retained_types.h"
#include "cli/question.h"
#include "cli/render/index.h"
#include "parsers/base/error.h"

namespace heapsift {
namespace {

/// The two tables of types that are asked for most: by people, and by programs.
void keep_types(Question& question, const ProgressCallback& progress) {
    const TypesResult all = types(question.filled(), SortKey::retained, 0, progress);
    for (const std::size_t limit : {rows_for_people, std::size_t{0}}) {
        kept_types(question.answers(), question.heap(), SortKey::retained, limit, [&] {
            TypesResult result = all;
            add_retained(result, question.graph(), question.retained(), SortKey::retained, limit, progress);
            return result;
        });
    }
}

ExitCode run_index(Session& session) {
    if (session.options().no_index)
        throw wrong_usage("bad-option", "index with --no-index has nothing to do", "leave --no-index out");
    session.leave_core_in_use();
    Question question(session, {Need::memory, Need::retained, Need::states});
    question.states();
    keep_types(question, session.progress());
    return session.write(render_index(session.write_index()));
}

}  // namespace

CommandRunner setup_index(CommandOptions&) { return run_index; }

}  // namespace heapsift
