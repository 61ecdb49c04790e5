#pragma once

// Tasks, greenlets, coroutines and generators that are suspended: groups, single rows, the tree of one.

#include "analysis/tasks.h"
#include "cli/document/document.h"

#include <functional>
#include <string_view>

namespace heapsift {

/// Everything about one row: read while it is written, since there may be 100,000.
struct TaskToShow {
    TaskDetails details;
    PathExpression expression;  // of the shortest path to it; its root empty if there is none
};
using ReadTask = std::function<TaskToShow(const TaskRow&)>;

/// `single`: people see rows, not groups. `limit`: rows or groups that are shown; 0: all.
Document render_tasks(TasksResult tasks, ReadTask read, bool single, std::size_t limit);

/// A node of the tree below one of them: who waits for what.
struct TaskNode {
    TaskRow row;
    std::size_t depth = 0;
    bool again = false;  // it stands above, with what is below it
};
/// `nodes`: the one that was asked for, and below it those that it waits for.
Document render_task_tree(TasksResult tasks, ReadTask read, std::vector<TaskNode> nodes);

/// Below a thread: the tasks of the loop that it runs, the most first.
void say_tasks_of_thread(const TasksResult& result, const std::vector<std::uint32_t>& rows,
                         Document& document);

/// One row for programs.
Datum task_data(const TasksResult& result, const TaskRow& row, const TaskToShow& task);
/// A group for programs.
Datum task_group_data(const TasksResult& result, const TaskGroup& group);
/// "handle() at server.py:41".
Text task_place_words(const TaskPlace& place);
/// "a queue that nobody puts into".
Text waits_for_words(Awaits awaits, const std::optional<bool>& finishes);

}  // namespace heapsift
