// asyncio's tasks and futures, and the objects that step them. (_asynciomodule.c)

#include "parsers/cpython/objects/kinds.h"
#include "parsers/cpython/objects/versioned_fields.h"

namespace heapsift {

namespace {

constexpr const char* future_names[] = {"_asyncio.Future"};
constexpr const char* task_names[] = {"_asyncio.Task"};
constexpr const char* future_iterator_names[] = {"_asyncio.FutureIter"};
constexpr const char* task_step_names[] = {"_asyncio.TaskStepMethWrapper", "TaskStepMethWrapper"};
constexpr const char* task_wakeup_names[] = {"TaskWakeupMethWrapper"};
constexpr const char* running_loop_holder_names[] = {"_RunningLoopHolder"};

constexpr VersionedField<future_layout> future_fields[] = {
    {&future_layout::loop, "._loop"},
    {&future_layout::callback0, "._callbacks[0][0]"},
    {&future_layout::context0, "._callbacks[0][1]"},
    {&future_layout::callbacks, ".<callbacks>"},
    {&future_layout::exception, "._exception"},
    {&future_layout::exception_tb, ".<traceback>"},
    {&future_layout::result, "._result"},
    {&future_layout::source_tb, "._source_traceback"},
    {&future_layout::cancel_message, "._cancel_message"},
    {&future_layout::cancelled, ".<cancelled by>"},
    {&future_layout::awaited_by, ".<awaited by>"},
    {&future_layout::cancelled_type, ".<cancelled by: type>"},
    {&future_layout::cancelled_tb, ".<cancelled by: traceback>"},
    {&future_layout::dict, ".__dict__"}};
constexpr VersionedField<task_layout> task_fields[] = {
    {&task_layout::loop, "._loop"},
    {&task_layout::callback0, "._callbacks[0][0]"},
    {&task_layout::context0, "._callbacks[0][1]"},
    {&task_layout::callbacks, ".<callbacks>"},
    {&task_layout::exception, "._exception"},
    {&task_layout::exception_tb, ".<traceback>"},
    {&task_layout::result, "._result"},
    {&task_layout::source_tb, "._source_traceback"},
    {&task_layout::cancel_message, "._cancel_message"},
    {&task_layout::cancelled, ".<cancelled by>"},
    {&task_layout::awaited_by, ".<awaited by>"},
    {&task_layout::cancelled_type, ".<cancelled by: type>"},
    {&task_layout::cancelled_tb, ".<cancelled by: traceback>"},
    {&task_layout::dict, ".__dict__"},
    {&task_layout::waiter, "._fut_waiter"},
    {&task_layout::coro, "._coro"},
    {&task_layout::name, ".<name>"},
    {&task_layout::context, "._context"}};
constexpr VersionedField<future_iterator_layout> future_iterator_fields[] = {
    {&future_iterator_layout::future, ".<future>"}};
constexpr VersionedField<task_step_layout> task_step_fields[] = {
    {&task_step_layout::task, ".__self__"}, {&task_step_layout::argument, ".<argument>"}};
constexpr VersionedField<task_wakeup_layout> task_wakeup_fields[] = {
    {&task_wakeup_layout::task, ".__self__"}};
constexpr VersionedField<running_loop_holder_layout> running_loop_holder_fields[] = {
    {&running_loop_holder_layout::loop, ".<loop>", never}};

const ObjectKind kinds_of_asyncio[] = {
    versioned_kind<&Layout::future, future_fields>("Future", future_names),
    versioned_kind<&Layout::task, task_fields>("Task", task_names),
    versioned_kind<&Layout::future_iterator, future_iterator_fields>("Future iterator",
                                                                     future_iterator_names),
    versioned_kind<&Layout::task_step, task_step_fields>("step of a Task", task_step_names),
    versioned_kind<&Layout::task_wakeup, task_wakeup_fields>("wakeup of a Task", task_wakeup_names),
    versioned_kind<&Layout::running_loop_holder, running_loop_holder_fields>("running loop",
                                                                             running_loop_holder_names),
};

}  // namespace

std::span<const ObjectKind> asyncio_kinds() { return kinds_of_asyncio; }

}  // namespace heapsift
