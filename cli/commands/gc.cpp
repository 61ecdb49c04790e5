// heapsift gc: the state of the collector, and what a collection would find.

#include "cli/commands/gc.h"

#include "analysis/gc.h"
#include "analysis/suspects/collector_calls.h"
#include "cli/command_options.h"
#include "cli/question.h"
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
    // Rows of a list are read while they are written, so the question must live as long.
    const auto question =
        std::make_shared<Question>(session, std::initializer_list<Need>{Need::references, Need::roots});
    const HeapReader& heap = question->filled();
    GcResult result =
        gc(heap, session.options().rows(), options.list, session.progress(), question->answers());
    session.note_references(heap);
    note_collector_settings(heap.snapshot().python.layout, session.diagnostics());
    const auto row = [question](ObjectId object) { return object_row(question->heap(), object); };
    if (options.list) return session.write(render_gc_list(std::move(result), row));
    const CodeThatNames code(heap, question->answers());
    return session.write(render_gc(result, collector_calls(code, result)));
}

}  // namespace

CommandRunner setup_gc(CommandOptions& declare) {
    auto options = std::make_shared<GcOptions>();
    declare.flag("--list", options->list, "list the objects that gc.collect() would find");
    return [options](Session& session) { return run_gc(session, *options); };
}

}  // namespace heapsift
