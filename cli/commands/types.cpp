// heapsift types: objects grouped by type.

#include "cli/commands/types.h"

#include "analysis/types.h"
#include "cli/render/types.h"
#include "cli/sort_option.h"

#include <CLI/CLI.hpp>

#include <memory>

namespace heapsift {
namespace {

struct TypesOptions {
    SortKey sort = SortKey::memory;
};

ExitCode run_types(Session& session, const TypesOptions& options) {
    const HeapSnapshot heap = session.open_heap();
    const TypesResult result = group_by_type(heap, options.sort, session.options().rows(), session.progress());
    note_impossible_total(result.total_size, result.total_memory, heap.core().extent().mapped_bytes, session.diagnostics());
    note_uncertain_sizes(result, session.diagnostics());
    return session.write(render_types(result, options.sort, session.redactor()));
}

}  // namespace

CommandRunner setup_types(CLI::App& app) {
    auto options = std::make_shared<TypesOptions>();
    add_sort_option(app, options->sort);
    return [options](Session& session) { return run_types(session, *options); };
}

}  // namespace heapsift
