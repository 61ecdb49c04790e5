// heapsift gc: the collector's state, and what a collection would find.

#include "cli/commands/gc.h"

#include "analysis/gc.h"
#include "cli/command_options.h"
#include "cli/render/gc.h"

#include <memory>
#include <utility>

namespace heapsift {
namespace {

struct GcOptions {
    bool list = false;
};

ExitCode run_gc(Session& session, const GcOptions& options) {
    if (!options.list) session.refuse_csv("gc without --list", "add --list, or use --json");
    // Rows of a list are read while they are written: the heap is theirs too.
    const auto heap = std::make_shared<const HeapReader>(session.open_heap());
    GcResult result = gc(*heap, session.options().rows(), options.list, session.progress());
    session.note_references(*heap);
    const auto row = [heap](ObjectId object) { return object_row(*heap, object); };
    return session.write(options.list ? render_gc_list(std::move(result), row) : render_gc(result));
}

}  // namespace

CommandRunner setup_gc(CommandOptions& declare) {
    auto options = std::make_shared<GcOptions>();
    declare.flag("--list", options->list, "list the objects that gc.collect() would find");
    return [options](Session& session) { return run_gc(session, *options); };
}

}  // namespace heapsift
