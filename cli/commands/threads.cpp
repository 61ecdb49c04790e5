// heapsift threads: what each thread was doing.

#include "cli/commands/threads.h"

#include "analysis/threads.h"
#include "cli/question.h"
#include "cli/render/threads.h"

#include <utility>

namespace heapsift {
namespace {

ExitCode run_threads(Session& session) {
    Question question(session, {Need::retained});
    const HeapReader& heap = question.heap();
    const RetainedLookup retained(question.graph(), question.retained());
    ThreadsResult result = threads(heap, session.options().rows(), &retained);
    session.note_references(heap);
    return session.write(render_threads(std::move(result)));
}

}  // namespace

CommandRunner setup_threads(CommandOptions&) { return run_threads; }

}  // namespace heapsift
