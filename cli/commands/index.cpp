// heapsift index: everything that later questions need, computed ahead of them.

#include "cli/commands/index.h"

#include "cli/question.h"
#include "cli/render/index.h"
#include "parsers/base/error.h"

namespace heapsift {
namespace {

ExitCode run_index(Session& session) {
    if (session.options().no_index)
        throw wrong_usage("bad-option", "index with --no-index has nothing to do", "leave --no-index out");
    session.leave_core_in_use();
    Question question(session, {Need::memory, Need::retained, Need::states});
    question.retained();
    question.states();
    return session.write(render_index(session.write_index()));
}

}  // namespace

CommandRunner setup_index(CommandOptions&) { return run_index; }

}  // namespace heapsift
