// heapsift threads: what each thread was doing.

#include "cli/commands/threads.h"

#include "analysis/threads.h"
#include "cli/question.h"
#include "cli/render/threads.h"

namespace heapsift {
namespace {

ExitCode run_threads(Session& session) {
    Question question(session, {Need::retained});
    const HeapReader& heap = question.heap();
    const RetainedLookup retained(question.graph(), question.retained());
    const ThreadsResult result = threads(heap, session.options().rows(), &retained);
    session.note_references(heap);
    return session.write(render_threads(result, session.redactor()));
}

}  // namespace

CommandRunner setup_threads(CommandOptions&) { return run_threads; }

}  // namespace heapsift
