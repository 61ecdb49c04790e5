// heapsift threads: what each thread was doing.

#include "cli/commands/threads.h"

#include "analysis/threads.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/threads.h"

#include <memory>
#include <utility>

namespace heapsift {
namespace {

struct ThreadsOptions {
    bool native = false;
};

ExitCode run_threads(Session& session, const ThreadsOptions& options) {
    Question question(session, {Need::retained});
    const HeapReader& heap = question.heap();
    const RetainedLookup retained(question.graph(), question.retained());
    ThreadsResult result =
        threads(heap, session.options().rows(), &retained, options.native, question.answers());
    session.note_references(heap);
    return session.write(render_threads(std::move(result)));
}

}  // namespace

CommandRunner setup_threads(CommandOptions& declare) {
    auto options = std::make_shared<ThreadsOptions>();
    declare.flag("--native", options->native, "also native calls (C, C++), among Python's");
    return [options](Session& session) { return run_threads(session, *options); };
}

}  // namespace heapsift
