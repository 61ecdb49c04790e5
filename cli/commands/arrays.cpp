// heapsift arrays: NumPy arrays, by who owns their bytes.

#include "cli/commands/arrays.h"

#include "analysis/arrays.h"
#include "cli/array_reader.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/arrays.h"
#include "cli/render/types.h"
#include "parsers/base/error.h"

#include <memory>

namespace heapsift {
namespace {

struct ArraysOptions {
    bool owners = false, views = false, pinned = false, by_holder = false, waste = false;
};

ArraysQuery query_of(const ArraysOptions& options, const CommonOptions& common) {
    using Table = ArraysQuery::Table;
    ArraysQuery query;
    query.table = options.views                                              ? Table::views
                  : options.waste                                            ? Table::waste
                  : options.owners || (options.pinned && !options.by_holder) ? Table::owners
                  : options.by_holder                                        ? Table::holders
                                                                             : Table::summary;
    query.only_pinned = options.pinned;
    query.rows = common.rows();
    query.every_frame = common.format != Format::text;
    return query;
}

ExitCode run_arrays(Session& session, const ArraysOptions& options) {
    if (options.owners + options.views + options.pinned + options.waste > 1 ||
        (options.by_holder && (options.owners || options.views || options.waste)))
        throw wrong_usage("bad-option",
                          "arrays shows one table: --owners, --views, --pinned, --by-holder or --waste",
                          "--pinned and --by-holder may be combined");
    // Rows are read while they are written, so the question and the result must live as long.
    const auto question = std::make_shared<Question>(session, std::initializer_list<Need>{Need::retained});
    const HeapReader& heap = question->filled();
    const auto result =
        std::make_shared<const ArraysResult>(arrays(question->work(), query_of(options, session.options())));
    session.note_references(heap);
    note_damaged_objects(result->table.sums.unread, session.diagnostics());
    return session.write(render_arrays(result, rows_of_arrays(question, result)));
}

}  // namespace

CommandRunner setup_arrays(CommandOptions& declare) {
    auto options = std::make_shared<ArraysOptions>();
    declare.flag("--owners", options->owners, "what owns their memory: arrays, bytes, mmaps, native memory");
    declare.flag("--views", options->views, "views: arrays whose data belongs to another object");
    declare.flag("--pinned", options->pinned, "owners kept alive only by views that show part of them");
    declare.flag("--by-holder", options->by_holder,
                 "group by holder: type and attribute, or function and local");
    declare.flag("--waste", options->waste,
                 "arrays all zero or one value, or with a dtype wider than needed");
    return [options](Session& session) { return run_arrays(session, *options); };
}

}  // namespace heapsift
