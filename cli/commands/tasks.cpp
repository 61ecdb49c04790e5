// heapsift tasks: what is suspended, where, and what it waits for.

#include "cli/commands/tasks.h"

#include "analysis/tasks.h"
#include "cli/address_lookup.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/tasks.h"
#include "cli/task_reader.h"
#include "cli/units.h"
#include "parsers/base/error.h"
#include "parsers/base/program_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace heapsift {
namespace {

constexpr std::size_t most_nodes = 200;

struct TasksOptions {
    bool list = false;
};

/// The one that was asked for, and below each those that it waits for: depth first, each once.
std::vector<TaskNode> tree_of_task(const TasksResult& result, const TaskRow& asked) {
    std::unordered_map<std::uint32_t, const TaskRow*> row_of;
    for (const TaskRow& row : result.rows) row_of.emplace(row.object, &row);
    // By who waits.
    std::vector<std::pair<ObjectId, ObjectId>> waits;
    for (const auto& [waited, waiter] : result.awaited_by) waits.emplace_back(waiter, waited);
    std::sort(waits.begin(), waits.end());
    std::vector<TaskNode> nodes;
    std::unordered_set<std::uint32_t> met;
    std::vector<std::pair<const TaskRow*, std::size_t>> to_do{{&asked, 0}};
    while (!to_do.empty() && nodes.size() < most_nodes) {
        const auto [row, depth] = to_do.back();
        to_do.pop_back();
        const bool again = !met.insert(row->object).second;
        nodes.push_back({*row, depth, again});
        if (again) continue;
        const std::size_t first = to_do.size();
        for (auto at = std::lower_bound(waits.begin(), waits.end(), std::pair(row->object, ObjectId(0)));
             at != waits.end() && at->first == row->object; ++at)
            if (const auto found = row_of.find(at->second); found != row_of.end())
                to_do.emplace_back(found->second, depth + 1);
        std::reverse(to_do.begin() + static_cast<std::ptrdiff_t>(first), to_do.end());
    }
    return nodes;
}

/// Nothing if it is no row.
std::optional<TaskRow> row_of_object(const TasksResult& result, ObjectId object) {
    const auto row = std::find_if(result.rows.begin(), result.rows.end(),
                                  [&](const TaskRow& one) { return one.object == object; });
    return row == result.rows.end() ? std::nullopt : std::optional(*row);
}

/// Of what is no row those that wait for it.
TasksResult waiting_for_asked(const HeapReader& heap, const TasksResult& result, ObjectId object) {
    TasksResult waiting = tasks_waiting_for(result, object);
    if (waiting.rows.empty())
        throw wrong_usage(
            "no-such-object",
            fmt::format("{} is no task, greenlet, coroutine or generator that is suspended, and "
                        "none waits for it",
                        hexadecimal(heap.snapshot().address_of(object).value)),
            command_line("tasks") + " lists them");
    return waiting;
}

ExitCode run_tasks(Session& session, const TasksOptions& options) {
    std::optional<AddressArgument> argument;
    if (session.words().address) argument = parse_address(*session.words().address);
    const auto question = std::make_shared<Question>(session, std::vector{Need::retained});
    const ObjectId asked = argument ? question->object(*argument) : no_object;
    const bool single = options.list || session.options().format != Format::text;
    const auto reader = std::make_shared<TaskReader>(question);
    TasksResult result = reader->find(session.progress());
    session.note_references(question->heap(), asked);
    const std::size_t limit = session.options().rows();
    if (const auto row = row_of_object(result, asked)) {
        std::vector<TaskNode> nodes = tree_of_task(result, *row);
        std::vector<ObjectId> objects;
        for (const TaskNode& node : nodes) objects.push_back(node.row.object);
        return session.write(
            render_task_tree(result, reader->read(result, objects, session.progress()), std::move(nodes)));
    }
    if (asked != no_object) result = waiting_for_asked(question->heap(), result, asked);
    std::vector<ObjectId> objects;
    const std::size_t shown = !single     ? 0
                              : limit > 0 ? std::min(limit, result.rows.size())
                                          : result.rows.size();
    for (std::size_t i = 0; i < shown; ++i) objects.push_back(result.rows[i].object);
    ReadTask read = reader->read(result, objects, session.progress());
    return session.write(render_tasks(std::move(result), std::move(read), single, limit));
}

}  // namespace

CommandRunner setup_tasks(CommandOptions& declare) {
    auto options = std::make_shared<TasksOptions>();
    declare.flag("--list,--all", options->list, "each by itself, not by place");
    return [options](Session& session) { return run_tasks(session, *options); };
}

}  // namespace heapsift
