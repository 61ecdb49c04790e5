#pragma once

// What is suspended: asyncio's tasks, greenlets, and coroutines and generators that belong to no task. Where each
// stands, what it waits for, whether that can come, and what it retains.

#include "analysis/awaits.h"
#include "analysis/holding/retained.h"
#include "analysis/object_paths.h"
#include "analysis/object_row.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace heapsift {

enum class TaskKind : std::uint8_t { task, greenlet, coroutine, async_generator, generator };
inline constexpr std::size_t task_kind_count = 5;

/// Where something is suspended. Names are not escaped.
struct TaskPlace {
    std::string coroutine = {};  // __qualname__ of the outermost call
    // The innermost call in a file of the program; the innermost of all if there is none.
    std::string function = {}, file = {};  // co_qualname, up to 3.10 co_name; co_filename
    std::int32_t line = 0;                 // 0: not known
    bool outermost = true;                 // that call is the outermost one, the coroutine itself
    auto operator<=>(const TaskPlace&) const = default;
};

struct TaskRow {
    ObjectId object = no_object;
    Address address;
    TaskKind kind = TaskKind::task;
    Awaits awaits = Awaits::unknown;
    std::uint32_t place = 0;         // index in TasksResult::places
    std::optional<bool> finishes;    // whether what it waits for comes; nothing if that cannot be told
    ObjectId waits_for = no_object;  // the task, the queue, the lock, …
    ObjectId future = no_object;     // whose result it waits for
    ObjectId loop = no_object;
    std::optional<double> until;  // when a timer ends its wait, by the loop's clock (time.monotonic), seconds
    std::uint64_t retained = 0;   // bytes
};

/// Rows of one kind that stand at one place and wait for the same sort of thing.
struct TaskGroup {
    TaskKind kind = TaskKind::task;
    Awaits awaits = Awaits::unknown;
    std::uint32_t place = 0;
    std::optional<bool> finishes;
    std::uint64_t count = 0;
    std::uint64_t retained = 0;  // bytes that deleting all of them would free
    Address example;             // of those that retain most, the first
};

/// An event loop of Python's own.
struct TaskLoop {
    ObjectId loop = no_object;
    std::uint64_t thread_id = 0;  // of the thread that runs it (PythonThread::thread_id); 0: it does not run
};

struct TasksResult {
    std::vector<TaskPlace> places;
    std::vector<TaskRow> rows;                   // the largest first, then by address
    std::vector<TaskGroup> groups;               // of all rows; the largest first
    std::uint64_t counts[task_kind_count] = {};  // of rows, by TaskKind
    std::uint64_t never = 0;                     // of rows that never finish
    std::uint64_t ended = 0;                     // tasks that are done, and still there
    std::vector<TaskLoop> loops;                 // by address
    // (a task or future that is not done, a task that waits for it), sorted
    std::vector<std::pair<ObjectId, ObjectId>> awaited_by;
};

/// Several passes over the objects; some microseconds for each that is suspended.
TasksResult tasks(const AwaitReader& awaits, const RetainedLookup& retained,
                  const ProgressCallback& progress = {}, KeptAnswers* answers = nullptr);

/// Of each thread (PythonThread::thread_id) the numbers of the rows whose loop it runs, in their order.
std::vector<std::vector<std::uint32_t>> tasks_of_threads(const TasksResult& result,
                                                         const std::vector<std::uint64_t>& thread_ids);
/// The groups of some rows alone, by count; what they retain is the sum of that of each.
std::vector<TaskGroup> groups_of(const TasksResult& result, const std::vector<std::uint32_t>& rows);

/// The rows that wait for `object` alone: a queue, a future, a task. May be none.
TasksResult tasks_waiting_for(const TasksResult& result, ObjectId object);

/// One of the rows, with all that there is to say of it.
struct TaskDetails {
    ObjectRow object;
    std::string name;  // of a task. Not escaped
    std::optional<ObjectRow> waits_for;
    Address future;                     // whose result it waits for; null: none
    std::vector<AwaitedCall> calls;     // outermost first; of a greenlet without objects
    std::vector<ObjectRow> waits_on;    // the tasks and futures that it waits for, at most 20
    std::vector<ObjectRow> awaited_by;  // tasks, at most 20
    std::uint64_t waits_on_count = 0, awaited_by_count = 0;
};
TaskDetails task_details(const AwaitReader& awaits, const RetainedLookup& retained, const TasksResult& result,
                         const TaskRow& row);

}  // namespace heapsift
