// heapsift cycles: objects that keep each other alive.

#include "cli/commands/cycles.h"

#include "analysis/cycles.h"
#include "cli/command_options.h"
#include "cli/picture_file.h"
#include "cli/question.h"
#include "cli/render/cycles.h"
#include "cli/render/gc.h"
#include "cli/report/svg.h"
#include "cli/units.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>
#include <memory>
#include <optional>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t most_steps_of_one = 12;  // when one cycle is shown alone

struct CyclesOptions {
    bool unreachable = false, uncollectable = false, all = false;
    std::optional<std::size_t> id;
    PictureOptions picture;
};

CyclesQuery query_of(const CyclesOptions& options) {
    CyclesQuery query;
    const bool chosen = options.unreachable || options.uncollectable;
    query.unreachable = !chosen || options.unreachable || options.all;
    query.uncollectable = !chosen || options.uncollectable || options.all;
    query.reachable = options.all;
    return query;
}

ExitCode run_cycles(Session& session, const CyclesOptions& options) {
    if (!options.id && !options.picture.path.empty())
        throw wrong_usage("bad-option", "--svg: a picture is of one cycle",
                          command_line("cycles --id 1 --svg FILE"));
    PictureFile picture(session, options.picture);
    if (options.id) session.refuse_csv("cycles --id", "leave out --id, or use --json");
    // Rows are made while they are written, so the question and the result must live as long.
    const auto question =
        std::make_shared<Question>(session, std::initializer_list<Need>{Need::memory, Need::states});
    const std::size_t limit = session.options().rows();
    const bool text = session.options().format == Format::text;
    CyclesQuery query = query_of(options);
    // Cycles that appear in neither table need no description.
    query.kinds = text && !options.id ? limit : 1;
    query.garbage_list = text || options.id ? 1 : limit;
    auto result = std::make_shared<const CyclesResult>(cycles(question->work(), query));
    session.note_references(question->heap());
    note_collector_settings(question->heap().snapshot().python.layout, session.diagnostics());
    if (!options.id) {
        const CycleRows rows = [question, result, limit](const std::function<void(const CycleRow&)>& visit) {
            std::size_t written = 0;
            for (const Cycle& cycle : result->cycles) {
                if (limit != 0 && written >= limit) break;
                if (!result->shown(cycle)) continue;
                ++written;
                visit(cycle_row(question->work(), *result, cycle, {}));
            }
        };
        const CycleCode code =
            session.options().format == Format::csv ? CycleCode() : cycle_code(question->work(), *result);
        return session.write(render_cycles(result, rows, code));
    }
    // Cycles still in use are numbered after those of garbage.
    if (!options.all && *options.id > result->cycles.size()) {
        query.reachable = true;
        result = std::make_shared<const CyclesResult>(cycles(question->work(), query));
    }
    if (*options.id == 0 || *options.id > result->cycles.size())
        throw wrong_usage(
            "no-such-cycle",
            fmt::format("there is no cycle {}: this core has {}", *options.id, result->cycles.size()),
            command_line("cycles --all") + " lists them");
    CycleWishes wishes{.limit = limit, .opening = true};
    if (text) wishes.steps = most_steps_of_one;
    CycleRow row = cycle_row(question->work(), *result, result->cycles[*options.id - 1], wishes);
    picture.write([&] { return svg_of_cycle(row, session.page_of_file()); });
    const CycleCode code = cycle_code(question->work(), row);
    return session.write(render_cycle(std::move(row), *result, code));
}

}  // namespace

CommandRunner setup_cycles(CommandOptions& declare) {
    auto options = std::make_shared<CyclesOptions>();
    declare.flag("--unreachable", options->unreachable, "only garbage: cycles that nothing reaches");
    declare.flag("--uncollectable", options->uncollectable, "only garbage that will never be freed");
    declare.flag("--all", options->all, "also cycles that are in use");
    declare.number("--id", options->id, "one cycle: its members, and which references to break");
    declare_picture(declare, options->picture, "with --id: a picture of the cycle too");
    return [options](Session& session) { return run_cycles(session, *options); };
}

}  // namespace heapsift
