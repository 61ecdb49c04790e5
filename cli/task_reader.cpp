#include "cli/task_reader.h"

#include "analysis/object_paths.h"

#include <utility>

namespace heapsift {

TaskReader::TaskReader(std::shared_ptr<Question> question)
    : question_(std::move(question)),
      retained_(std::make_shared<RetainedLookup>(question_->graph(), question_->retained())),
      awaits_(std::make_shared<AwaitReader>(question_->heap())) {}

TasksResult TaskReader::find(const ProgressCallback& progress) const {
    return tasks(*awaits_, *retained_, progress, question_->answers());
}

ReadTask TaskReader::read(const TasksResult& result, const std::vector<ObjectId>& objects,
                          const ProgressCallback& progress) const {
    const auto paths = std::make_shared<ExpressionFinder>(question_->graph(), objects, progress, nullptr);
    // Rows are read while the document is written, when the result belongs to that.
    const auto awaiters = std::make_shared<TasksResult>();
    awaiters->awaited_by = result.awaited_by;
    return
        [question = question_, retained = retained_, awaits = awaits_, paths, awaiters](const TaskRow& row) {
            TaskToShow task{.details = task_details(*awaits, *retained, *awaiters, row), .expression = {}};
            if (auto found = paths->of(row.object)) task.expression = std::move(found->expression);
            return task;
        };
}

}  // namespace heapsift
