#pragma once

// Threads and their Python stacks.

#include "analysis/threads.h"
#include "cli/document/document.h"
#include "cli/render/tasks.h"

#include <memory>
#include <vector>

namespace heapsift {

/// What is suspended, and of each thread (by its place in ThreadsResult::threads) the rows whose loop it runs.
struct TasksOfThreads {
    TasksResult tasks;
    std::vector<std::vector<std::uint32_t>> rows;
    ReadTask read;
};

/// With `tasks`, those of its event loop below each thread.
Document render_threads(ThreadsResult result, std::shared_ptr<const TasksOfThreads> tasks = nullptr);

}  // namespace heapsift
