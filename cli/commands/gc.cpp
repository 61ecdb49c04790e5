// heapsift gc: the collector's state, and what a collection would find.

#include "cli/commands/gc.h"

#include "analysis/gc.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/gc.h"

#include <memory>

namespace heapsift {
namespace {

struct GcOptions {
    bool list = false;
};

ExitCode run_gc(Session& session, const GcOptions& options) {
    if (!options.list) session.refuse_csv("gc without --list", "add --list, or use --json");
    Question question(session, {Need::references});
    const HeapReader& heap = question.filled();
    const GcResult result = gc(heap, session.options().rows(), options.list, session.progress());
    session.note_references(heap);
    return session.write(options.list
                             ? render_gc_list(heap, result, session.options().rows(), session.redactor())
                             : render_gc(result, session.redactor()));
}

}  // namespace

CommandRunner setup_gc(CommandOptions& declare) {
    auto options = std::make_shared<GcOptions>();
    declare.flag("--list", options->list, "list the objects that gc.collect() would find");
    return [options](Session& session) { return run_gc(session, *options); };
}

}  // namespace heapsift
