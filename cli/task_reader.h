#pragma once

// Tasks as `tasks` and `threads --tasks` read them: the list once, then each row when it is written.

#include "cli/question.h"
#include "cli/render/tasks.h"

#include <memory>
#include <vector>

namespace heapsift {

class TaskReader {
public:
    /// `question` must have declared retained sizes.
    explicit TaskReader(std::shared_ptr<Question> question);

    TasksResult find(const ProgressCallback& progress) const;
    /// What reads a row of `result`; of `objects` also an expression. It keeps the question and a copy of what it needs.
    ReadTask read(const TasksResult& result, const std::vector<ObjectId>& objects,
                  const ProgressCallback& progress) const;

private:
    std::shared_ptr<Question> question_;
    std::shared_ptr<RetainedLookup> retained_;
    std::shared_ptr<AwaitReader> awaits_;
};

}  // namespace heapsift
