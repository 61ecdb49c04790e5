#pragma once

// What a suspended call waits for: a task, a queue, a lock, a time. (How that is known: awaits.cpp.)

#include "parsers/cpython/threads.h"
#include "parsers/reading/asyncio_objects.h"

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapsift {

/// What something waits for.
enum class Awaits : std::uint8_t {
    unknown,
    running,      // nothing: it runs
    ready,        // nothing: the loop is to call it again
    not_started,  // its call has not begun
    caller,       // whoever takes the next value of a generator
    task,
    tasks,  // several: gather, wait, as_completed, a task group
    future,
    queue_get,
    queue_put,
    queue_join,
    lock,
    event,
    condition,
    semaphore,
    barrier,
    sleep,
    thread,  // a function that a thread of an executor runs: to_thread, run_in_executor
    socket,
    stream_read,
    stream_write,
    server,
    process,
    switched,  // a greenlet: until another one switches to it
    object     // another object that can be awaited
};

/// A call in a chain of calls that await each other.
struct AwaitedCall {
    Address object;  // the coroutine, generator or asynchronous generator
    PythonFrame frame;
};

struct Await {
    Awaits what = Awaits::unknown;
    Address object;                  // the queue, the task, the socket, …; null: nothing
    Address future;                  // whose result it waits for; null: none, or not known
    std::vector<Address> tasks;      // for `task` and `tasks`: those that are not done, at most 10,000
    bool cancels = false;            // whether cancelling what waits cancels those
    std::optional<double> until;     // by the clock of the loop (time.monotonic), seconds
    std::vector<AwaitedCall> calls;  // the outermost first; at most 1,000
};

/// Reads many of them. Refers to the heap, which must have its references.
class AwaitReader {
public:
    explicit AwaitReader(const HeapReader& heap);

    const AsyncTypes& types() const { return types_; }
    /// Of a task that is not done. Some microseconds.
    Await of_task(ObjectId task) const;
    /// Of a coroutine, generator or asynchronous generator; nothing if its call has ended.
    std::optional<Await> of_call(ObjectId call) const;

    /// The call that a suspended coroutine or generator awaits itself; null if there is none.
    Address inner_call(ObjectId call) const;

    /// The tasks and futures that are not done among those that `container` (a list, a set, a dict) refers to.
    std::vector<Address> pending_in(Address container) const;
    bool is_pending(Address future) const;
    /// Whether a result, an exception or a cancellation is there. False for what is no future.
    bool is_done(Address future) const;

private:
    struct Rule;
    /// What is known of a code object.
    struct Code {
        bool of_asyncio = false;
        const Rule* rule = nullptr;
    };
    static const Rule rules[];

    void follow(Address call, Await& await, CallState& state) const;
    Address next_of(Address awaited, Await& await) const;
    const Code& code(const PythonFrame& frame) const;
    Address local(const PythonFrame& frame, std::string_view name) const;
    void judge(Await& await) const;
    bool judge_by_calls(Await& await) const;
    bool judge_by_callbacks(Await& await) const;
    FutureState state_of(Address future) const;
    AsyncType type_at(Address object) const;
    std::optional<ObjectReader> reader(Address object) const;

    bool is_call(Address object) const;
    Address call_behind(Address awaited, Await& await) const;

    const HeapReader& heap_;
    const PythonHeap& python_;
    AsyncTypes types_;
    GeneratorCalls calls_;
    mutable std::uint64_t read_ = 0, looked_at_ = 0;         // calls; members of what several tasks are in
    mutable std::unordered_map<std::uint64_t, Code> codes_;  // by address
    mutable std::unordered_map<std::uint64_t, bool>
        callbacks_;  // by address of code: whether it is one of below
};

}  // namespace heapsift
