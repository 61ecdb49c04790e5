// heapsift cycles: objects that keep each other alive.

#include "cli/commands/cycles.h"

#include "analysis/cycles.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/cycles.h"
#include "cli/units.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>
#include <memory>
#include <optional>

namespace heapsift {
namespace {

struct CyclesOptions {
    bool unreachable = false, uncollectable = false, all = false;
    std::optional<std::size_t> id;
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
    if (options.id) session.refuse_csv("cycles --id", "leave out --id, or use --json");
    Question question(session, {Need::states});
    const HeapReader& heap = question.heap();
    const ObjectStates& states = question.states();
    std::optional<Cycles> cycles(std::in_place, question.graph(), states, query_of(options),
                                 session.progress());
    session.note_references(heap);
    if (!options.id)
        return session.write(render_cycles(*cycles, states, session.options().rows(), session.redactor()));
    // What is in use has the numbers behind those of garbage.
    if (!options.all && *options.id > cycles->all().size())
        cycles.emplace(question.graph(), states, CyclesQuery{.reachable = true}, session.progress());
    if (*options.id == 0 || *options.id > cycles->all().size())
        throw wrong_usage(
            "no-such-cycle",
            fmt::format("there is no cycle {}: this core has {}", *options.id, cycles->all().size()),
            command_line("cycles --all") + " lists them");
    const Cycle& cycle = cycles->all()[*options.id - 1];
    const CycleDetails details = cycles->details(cycle, session.options().rows(), true);
    return session.write(render_cycle(*cycles, states, cycle, details, session.redactor()));
}

}  // namespace

CommandRunner setup_cycles(CommandOptions& declare) {
    auto options = std::make_shared<CyclesOptions>();
    declare.flag("--unreachable", options->unreachable, "only garbage: cycles that nothing reaches");
    declare.flag("--uncollectable", options->uncollectable, "only garbage that will never be freed");
    declare.flag("--all", options->all, "also cycles that are in use");
    declare.number("--id", options->id, "one cycle: its members, and which references to break");
    return [options](Session& session) { return run_cycles(session, *options); };
}

}  // namespace heapsift
