// heapsift threads: what each thread was doing.

#include "cli/commands/threads.h"

#include "analysis/threads.h"
#include "cli/render/threads.h"

namespace heapsift {
namespace {

ExitCode run_threads(Session& session) {
    const HeapSnapshot heap = session.open_heap();
    const HeapGraph graph(heap, session.progress());
    const RetainedSizes retained(graph, session.progress());
    const ThreadsResult result = threads(heap, session.options().rows(), &retained);
    session.note_references(heap);
    return session.write(render_threads(result, session.redactor()));
}

}  // namespace

CommandRunner setup_threads(CommandOptions&) { return run_threads; }

}  // namespace heapsift
