#pragma once

// asyncio's own objects: tasks, futures, handles of the loop, and what coroutines wait on. Which types they are is
// found once; what a task or a future holds is read one at a time. (CPython's Lib/asyncio and
// Modules/_asynciomodule.c, 3.6 to 3.15.)

#include "parsers/base/ids.h"
#include "parsers/cpython/object_kind.h"
#include "parsers/reading/heap_reader.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace heapsift {

/// What an object is to somebody who waits. A class that derives from one of these is one.
enum class AsyncType : std::uint8_t {
    other,
    task,
    future,             // one that is no task
    gathering_future,   // of asyncio.gather
    concurrent_future,  // of concurrent.futures
    future_iterator,    // what `await future` makes: iterates once
    coroutine_wrapper,  // what coroutine.__await__() returns
    step_of_generator,  // what an asynchronous generator's asend, athrow and anext() return
    handle,             // a callback that the loop is to call
    timer_handle,       // the same at a time
    timeout,            // of asyncio.timeout() and wait_for
    loop,
    queue,
    lock,
    event,
    condition,
    semaphore,
    barrier,
    task_group,
    stream_reader,
    weak_reference,
    greenlet
};

class AsyncTypes {
public:
    explicit AsyncTypes(const HeapReader& heap);

    AsyncType of(TypeId type) const { return type == no_type ? AsyncType::other : rows_[type].what; }
    AsyncType of(ObjectId object) const;
    /// Whether a task or a future is one of C: of _asyncio, or a class that derives from it.
    bool is_of_c(TypeId type) const { return type != no_type && rows_[type].of_c; }
    /// Whether the program has types of that sort.
    bool any(AsyncType what) const;

private:
    struct Row {
        AsyncType what = AsyncType::other;
        bool of_c = false;
    };
    const HeapSnapshot& columns_;
    std::vector<Row> rows_;  // by type
};

enum class FutureState : std::uint8_t { pending, cancelled, finished, unknown };

/// Of a future or a task; `of_c`: AsyncTypes::is_of_c.
FutureState future_state(const ObjectReader& future, bool of_c);

struct TaskFacts {
    FutureState state = FutureState::unknown;
    Address coroutine;  // null: none (an eager task that has ended)
    Address waiter;     // the future that it waits for; null: it runs, is to run, or has ended
    Address loop;
};
TaskFacts task_facts(const ObjectReader& task, bool of_c);
/// "Task-12"; empty if it cannot be read. Not escaped.
std::string task_name(const ObjectReader& task, bool of_c);

/// What is called when a future is done, at most 64: functions, methods, the wakeup of a task.
std::vector<Address> future_callbacks(const ObjectReader& future, bool of_c);

/// The object behind an attribute of that name; null if it has none, or that is None. No property is run.
Address attribute_of(const PythonHeap& heap, Address object, std::string_view name);
/// Of a float or an int; nothing if that is not finite.
std::optional<double> number_of(const PythonHeap& heap, Address number);

}  // namespace heapsift
