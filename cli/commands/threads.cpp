// heapsift threads: what each thread was doing.

#include "cli/commands/threads.h"

#include "analysis/threads.h"
#include "cli/render/threads.h"

#include <CLI/CLI.hpp>

namespace heapsift {
namespace {

ExitCode run_threads(Session& session) {
    const HeapSnapshot heap = session.open_heap();
    const ThreadsResult result = list_threads(heap, session.options().rows());
    return session.write(render_threads(result, session.redactor()));
}

}  // namespace

CommandRunner setup_threads(CLI::App&) { return run_threads; }

}  // namespace heapsift
