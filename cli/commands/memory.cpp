// heapsift memory: who owns each byte of the process.

#include "cli/commands/memory.h"

#include "analysis/memory.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/memory.h"
#include "cli/render/types.h"

#include <memory>
#include <utility>

namespace heapsift {
namespace {

struct MemoryOptions {
    bool regions = false;
};

ExitCode run_memory(Session& session, const MemoryOptions& options) {
    if (!options.regions) session.refuse_csv("memory without --regions", "add --regions, or use --json");
    Question question(session, {Need::memory, Need::native});
    MemoryResult result =
        memory(question.filled(), options.regions, session.options().rows(), question.answers());
    note_overlaps(result.overlaps, session.diagnostics());
    return session.write(render_memory(std::move(result), options.regions));
}

}  // namespace

CommandRunner setup_memory(CommandOptions& declare) {
    auto options = std::make_shared<MemoryOptions>();
    declare.flag("--regions", options->regions, "each mapping, and whose its bytes are");
    return [options](Session& session) { return run_memory(session, *options); };
}

}  // namespace heapsift
