// heapsift suspects: the likely causes of what a process has in use, each with its fix.

#include "cli/commands/suspects.h"

#include "analysis/suspects/suspects.h"
#include "cli/question.h"
#include "cli/render/suspects.h"
#include "cli/render/types.h"
#include "cli/usual_questions.h"

namespace heapsift {
namespace {

ExitCode run_suspects(Session& session) {
    Question question(session, {Need::memory, Need::native, Need::retained, Need::states});
    const HeapReader& heap = question.heap();
    const OverviewResult found = overview(question.work(), overview_rows);
    const SuspectsResult result = suspects(question.work(), found, session.options().rows(), true);
    note_overlaps(found.memory_overlaps, session.diagnostics());
    session.note_references(heap);
    return session.write(render_suspects(result, found));
}

}  // namespace

CommandRunner setup_suspects(CommandOptions&) {
    return [](Session& session) { return run_suspects(session); };
}

}  // namespace heapsift
