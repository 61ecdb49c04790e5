// heapsift dominators: the tree of which object retains which.

#include "cli/commands/dominators.h"

#include "analysis/dominators.h"
#include "cli/address_lookup.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/dominators.h"
#include "cli/units.h"
#include "cli/usual_questions.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>
#include <charconv>
#include <memory>
#include <utility>

namespace heapsift {
namespace {

// A chain of 100,000 objects has as many levels, and readers of JSON give up at a thousand brackets: two a
// level.
constexpr std::size_t deepest_level = 400;

struct DominatorsOptions {
    std::optional<std::size_t> depth;
    std::string least;
};

/// "10M", or "1%" of all bytes.
std::uint64_t least_bytes(const std::string& typed, std::uint64_t total) {
    if (typed.ends_with("%")) {
        double share = -1;
        const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size() - 1, share);
        if (error == std::errc() && end == typed.data() + typed.size() - 1 && share >= 0 && share <= 100)
            return static_cast<std::uint64_t>(share / 100 * static_cast<double>(total));
    } else if (const auto bytes = parse_quantity(typed); bytes && *bytes >= 0) {
        return static_cast<std::uint64_t>(*bytes);
    }
    throw wrong_usage("bad-option",
                      fmt::format("--min {}: a size such as 10M, or a share such as 1%, is needed", typed));
}

ExitCode run_dominators(Session& session, const DominatorsOptions& options) {
    std::optional<AddressArgument> argument;
    if (session.words().address) argument = parse_address(*session.words().address);
    if (!options.least.empty()) least_bytes(options.least, 0);  // reports a bad value before the work
    if (options.depth.value_or(0) > deepest_level)
        throw wrong_usage("bad-option", fmt::format("--depth takes at most {} levels", deepest_level),
                          command_line("dominators 0x…") + " goes on below an object");
    Question question(session, {Need::retained});
    const HeapReader& heap = question.heap();
    DominatorsQuery query;
    if (argument) query.object = question.object(*argument);
    const HeapGraph& graph = question.graph();
    const RetainedSizes& retained = question.retained();
    const std::uint64_t total =
        RetainedLookup(graph, retained).memory(query.object ? graph.node_of(*query.object) : graph.root());
    query.depth = options.depth.value_or(dominators_depth);
    const bool text = session.options().format == Format::text;
    query.limit = session.options().limit.value_or(text ? dominators_rows_for_people : 0);
    query.least = options.least.empty() ? text ? total / dominators_parts_for_people : 0
                                        : least_bytes(options.least, total);
    DominatorsAnswer answer(graph, retained, query, session.progress(), question.answers());
    session.note_references(heap, query.object.value_or(no_object));
    return session.write(render_dominators(std::move(answer)));
}

}  // namespace

CommandRunner setup_dominators(CommandOptions& declare) {
    auto options = std::make_shared<DominatorsOptions>();
    declare.number("--depth", options->depth, "levels to show below the top (default 3, at most 400)");
    declare.text("--min", options->least, "SIZE|N%",
                 "only what retains at least 10M, or 1% of the top (text: 0.5%)");
    return [options](Session& session) { return run_dominators(session, *options); };
}

}  // namespace heapsift
