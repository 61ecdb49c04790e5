// heapsift CORE, heapsift overview: the first screen. --top replaces the overview by one of the tables;
// invocation.cpp does that before the options are parsed, and the option is declared here for --help.

#include "cli/commands/overview.h"

#include "analysis/overview.h"
#include "analysis/suspects/signature.h"
#include "analysis/suspects/signature_program.h"
#include "analysis/suspects/suspects.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/overview.h"
#include "cli/render/types.h"
#include "cli/usual_questions.h"

#include <utility>

namespace heapsift {
namespace {

ExitCode run_overview(Session& session) {
    Question question(session, {Need::memory, Need::native, Need::retained, Need::states});
    const HeapReader& heap = question.heap();
    const HeapSnapshot& columns = heap.snapshot();
    OverviewResult result = overview(question.work(), session.options().limit.value_or(overview_rows));
    note_impossible_total(result.types.total_size, result.types.total_memory,
                          heap.core().extent().mapped_bytes, session.diagnostics());
    // Every process with pandas has such types: `types` says which.
    note_uncertain_sizes(result.types, session.diagnostics(), false);
    note_overlaps(result.memory_overlaps, session.diagnostics());
    OverviewCore core = overview_core(heap.core(), columns.python);
    core.facts = program_facts(heap);
    const SuspectsResult causes = suspects(question.work(), result, overview_suspects, true);
    const CommandWords words = command_words(heap);
    const bool redacted = session.redactor().active();
    const std::string program = program_name(core.process, words, !redacted);
    core.signature = signature(result, causes, core.process, call_at_signal(heap), program);
    if (redacted) core.signature = without_program_file(core.signature, words);
    return session.write(render_overview(std::move(result), core, causes));
}

}  // namespace

CommandRunner setup_overview(CommandOptions& declare) {
    declare.choice(
        "--top", {"types", "objects", "arrays"}, [](std::size_t) {},
        "one table instead, the same as the command of that name");
    return run_overview;
}

}  // namespace heapsift
