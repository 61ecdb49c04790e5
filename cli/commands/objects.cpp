// heapsift objects: single objects, largest first.

#include "cli/commands/objects.h"

#include "analysis/objects.h"
#include "analysis/traced_lines.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/objects.h"
#include "cli/render/types.h"
#include "cli/sort_option.h"
#include "cli/type_option.h"
#include "cli/where.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

struct ObjectsOptions {
    std::string type;
    bool subclasses = false;
    std::vector<std::string> where;
    std::optional<SortKey> sort;
};

std::string what_was_asked(const ObjectsOptions& options) {
    std::string what = options.type.empty() ? "objects" : "objects of type " + options.type;
    if (!options.where.empty()) what += fmt::format(" with {}", fmt::join(options.where, ","));
    return what;
}

/// By retained size if that is asked about.
SortKey default_sort(const ObjectsQuery& query) {
    return asks_retained(query) ? SortKey::retained : SortKey::memory;
}

ExitCode run_objects(Session& session, const ObjectsOptions& options) {
    ObjectsQuery query;
    for (const std::string& conditions : options.where)
        for (const ObjectCondition& condition : parse_conditions(conditions))
            query.where.push_back(condition);
    query.include_subclasses = options.subclasses;
    query.sort = options.sort ? *options.sort : default_sort(query);
    query.limit = session.options().rows();
    // Rows are read while they are written, so the question must live as long.
    const auto question = std::make_shared<Question>(
        session, asks_retained(query) ? std::vector{Need::retained, Need::states} : std::vector<Need>());
    question->take_what_is_at_hand();
    const HeapReader& heap = question->heap();
    if (!options.type.empty()) query.types = types_named(heap.snapshot(), options.type);
    std::optional<RetainedLookup> retained;
    if (question->graph_at_hand()) {
        retained.emplace(question->graph(), question->retained());
        question->states();
    }
    ObjectsResult result =
        objects(heap, query, retained ? &*retained : nullptr, session.progress(), question->answers());
    note_impossible_total(result.total_size, result.total_memory, heap.core().extent().mapped_bytes,
                          session.diagnostics());
    note_damaged_objects(result.damaged_objects, session.diagnostics());
    if (retained) session.note_references(heap);
    const auto row = [question](ObjectId object) {
        if (!question->graph_at_hand()) return object_row(question->heap(), object);
        return object_row(RetainedLookup(question->graph(), question->retained()), question->states(),
                          object);
    };
    ObjectDetails details{.row = row, .line = {}};
    const auto lines = std::make_shared<const TracedLines>(traced_memory(heap.core(), heap.python_heap()));
    if (lines->tracing()) details.line = [lines](Address object) { return lines->line_at(object); };
    return session.write(render_objects(std::move(result), details, what_was_asked(options), query.sort));
}

}  // namespace

CommandRunner setup_objects(CommandOptions& declare) {
    auto options = std::make_shared<ObjectsOptions>();
    declare.text("--type", options->type, "NAME", "module.Name or unique Name (* is any text)",
                 ValueKind::type);
    declare.flag("--subclasses", options->subclasses, "with --type: subclasses too");
    declare.texts("--where", options->where, "FIELD<OP>NUMBER",
                  "such as size>1M,refcount>=3; also memory, array_data, retained, block_size",
                  condition_beginnings());
    add_sort_option(declare, options->sort, "default memory; retained takes longer");
    return [options](Session& session) { return run_objects(session, *options); };
}

}  // namespace heapsift
