// heapsift waste: memory that the same content would not need.

#include "cli/commands/waste.h"

#include "analysis/waste.h"
#include "cli/command_options.h"
#include "cli/help.h"
#include "cli/question.h"
#include "cli/render/types.h"
#include "cli/render/waste.h"
#include "parsers/base/program_name.h"

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

std::string waste_examples() {
    return examples_text({
        {command_line("waste"), "what the same content would not need, with a fix for each"},
        {command_line("duplicates"), "the row of equal values, value by value"},
        {command_line("arrays --waste"), "the row of arrays, array by array"},
    });
}

}  // namespace heapsift
