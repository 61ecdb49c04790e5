// heapsift waste: memory that the same content would not need.

#include "cli/commands/waste.h"

#include "analysis/waste.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/types.h"
#include "cli/render/waste.h"

namespace heapsift {
namespace {

ExitCode run_waste(Session& session) {
    Question question(session, {Need::sizes, Need::graph});
    WasteResult result =
        waste(question.graph(), session.options().rows(), session.progress(), question.answers());
    session.note_references(question.heap());
    note_damaged_objects(result.damaged, session.diagnostics());
    return session.write(render_waste(std::move(result)));
}

}  // namespace

CommandRunner setup_waste(CommandOptions&) { return run_waste; }

}  // namespace heapsift
