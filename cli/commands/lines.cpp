// heapsift lines: memory by the source line that allocated it.

#include "cli/commands/lines.h"

#include "analysis/lines.h"
#include "analysis/native_lines.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/lines.h"
#include "parsers/base/error.h"

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

constexpr std::size_t most_calls = 0xffff;  // tracemalloc keeps no more

struct LinesOptions {
    LinesQuery query;
    std::optional<std::size_t> traceback, domain;
};

ExitCode run_lines(Session& session, const LinesOptions& options) {
    LinesQuery query = options.query;
    query.frames = options.traceback.value_or(1);
    if (options.domain && query.native_only)
        throw wrong_usage("bad-option", "lines --native is of Python's domain alone", "leave --domain out");
    if (options.domain) query.domain = static_cast<std::uint32_t>(*options.domain);
    query.limit = session.options().rows();
    std::vector<Need> needs;
    if (query.native_only) needs.push_back(Need::native);
    Question question(session, needs);
    const HeapReader& heap = question.filled();
    if (const auto progress = session.progress()) progress("reading tracemalloc's tables", 0);
    TracedMemory traced = traced_memory(heap.core(), heap.python_heap());
    note_unread_traces(traced, session.diagnostics());
    if (query.native_only) keep_native_blocks(heap, traced);
    return session.write(render_lines(lines(traced, query), query));
}

}  // namespace

CommandRunner setup_lines(CommandOptions& declare) {
    static constexpr std::array keys = {LineSort::size, LineSort::count, LineSort::average, LineSort::name};
    auto options = std::make_shared<LinesOptions>();
    declare.number("--traceback", options->traceback, "group by the N most recent calls (default 1)", 1,
                   most_calls);
    declare.flag("--by-domain", options->query.by_domain, "group by tracemalloc's domain too");
    declare.flag("--native", options->query.native_only, "only blocks of C code, as native counts them");
    declare.number("--domain", options->domain, "only this domain: 0 is Python, 389047 NumPy's data", 0,
                   std::numeric_limits<std::uint32_t>::max());
    std::vector<std::string> names;
    for (const LineSort key : keys) names.emplace_back(name_of(key));
    declare.choice(
        "--sort", names, [options](std::size_t choice) { options->query.sort = keys[choice]; },
        "sort key (default size)");
    return [options](Session& session) { return run_lines(session, *options); };
}

}  // namespace heapsift
