// heapsift threads: what each thread was doing.

#include "cli/commands/threads.h"

#include "analysis/threads.h"
#include "cli/command_options.h"
#include "cli/question.h"
#include "cli/render/threads.h"
#include "cli/task_reader.h"

#include <memory>
#include <utility>
#include <vector>

namespace heapsift {
namespace {

struct ThreadsOptions {
    bool native = false;
    bool tasks = false;
};

/// Those of each thread's event loop.
std::shared_ptr<const TasksOfThreads> tasks_of(Session& session, const std::shared_ptr<Question>& question,
                                               const ThreadsResult& threads) {
    const TaskReader reader(question);
    auto found = std::make_shared<TasksOfThreads>();
    found->tasks = reader.find(session.progress());
    std::vector<std::uint64_t> ids;
    for (const ThreadRow& row : threads.threads) ids.push_back(row.known ? row.thread.thread_id : 0);
    found->rows = tasks_of_threads(found->tasks, ids);
    std::vector<ObjectId> objects;
    if (session.options().format != Format::text)
        for (const auto& rows : found->rows)
            for (const std::uint32_t row : rows) objects.push_back(found->tasks.rows[row].object);
    found->read = reader.read(found->tasks, objects, session.progress());
    return found;
}

ExitCode run_threads(Session& session, const ThreadsOptions& options) {
    const auto question = std::make_shared<Question>(session, std::vector{Need::retained});
    const HeapReader& heap = question->heap();
    const RetainedLookup retained(question->graph(), question->retained());
    ThreadsResult result =
        threads(heap, session.options().rows(), &retained, options.native, question->answers());
    auto tasks = options.tasks ? tasks_of(session, question, result) : nullptr;
    session.note_references(heap);
    return session.write(render_threads(std::move(result), std::move(tasks)));
}

}  // namespace

CommandRunner setup_threads(CommandOptions& declare) {
    auto options = std::make_shared<ThreadsOptions>();
    declare.flag("--native", options->native, "also native calls (C, C++), among Python's");
    declare.flag("--tasks", options->tasks, "below each thread the asyncio tasks of the loop that it runs");
    return [options](Session& session) { return run_threads(session, *options); };
}

}  // namespace heapsift
