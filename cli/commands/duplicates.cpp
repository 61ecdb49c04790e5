// heapsift duplicates: equal values, what one copy of each would save, and who holds them.

#include "cli/commands/duplicates.h"

#include "analysis/duplicates.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/duplicates.h"

#include <memory>

namespace heapsift {
namespace {

ExitCode run_duplicates(Session& session) {
    // Rows are read while they are written, so the question must live as long.
    const auto question =
        std::make_shared<Question>(session, std::initializer_list<Need>{Need::sizes, Need::graph});
    DuplicatesResult result =
        duplicates(question->graph(), session.options().rows(), session.progress(), question->answers());
    session.note_references(question->heap());
    const auto shared = std::make_shared<const DuplicatesResult>(std::move(result));
    return session.write(render_duplicates(shared, [question, shared](const DuplicateValue& value) {
        return duplicate_row(question->heap(), *shared, value);
    }));
}

}  // namespace

CommandRunner setup_duplicates(CommandOptions&) { return run_duplicates; }

}  // namespace heapsift
