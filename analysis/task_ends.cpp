// A task waits for a future, and somebody must set its result. Who could? Whoever has a reference to it: a local of
// a function that runs, a callback that the loop is to call, a module's variable, C code. But a list of all tasks
// leads to each of them, and from there to its coroutine, its locals, and so to the future that it waits for; and yet
// a task that waits sets no result. So the walk begins at what acts (all roots), and does not look into tasks that
// wait, nor into their coroutines. When it meets a future, the task that waits for that one may go on: then what the
// task holds is walked as well, and so on until nothing more is met. Tasks whose futures were never met wait for ever,
// be it for each other. A task's own result is set by nothing but its coroutine's end: to reach a task is not to
// complete it.
//
// Where this is not certain, a task may go on. A weak reference counts as a reference: a protocol has its StreamReader
// by one. An object that counts more references than were found may be held by C code, and is walked. A callback of
// the loop that leads to a task in a few steps may cancel it: Timeout, or a method of the program.

#include "analysis/task_ends.h"

#include "parsers/cpython/object_kind.h"

#include <algorithm>
#include <unordered_map>

namespace heapsift {
namespace {

constexpr std::size_t most_of_callback = 64;

class Walk {
public:
    Walk(const HeapGraph& graph, const AsyncTypes& types, std::span<const WaitingTask> tasks,
         std::span<const ObjectId> going_on)
        : graph_(graph),
          types_(types),
          tasks_(tasks),
          endings_(tasks.size(), Ending::never),
          met_(graph.node_count()),
          closed_(graph.object_count()) {
        for (std::uint32_t i = 0; i < tasks.size(); ++i) {
            const WaitingTask& task = tasks[i];
            number_of_.emplace(task.task, i);
            waiters_.emplace_back(task.future, i);
            closed_[task.task] = true;
            for (const ObjectId one : task.own) closed_[one] = true;
        }
        std::sort(waiters_.begin(), waiters_.end());
        going_on_.assign(going_on.begin(), going_on.end());
        std::sort(going_on_.begin(), going_on_.end());
    }

    std::vector<Ending> endings() && {
        for (std::uint32_t i = 0; i < tasks_.size(); ++i) {
            if (tasks_[i].by_time)
                go_on(i, Ending::comes);
            else if (std::binary_search(going_on_.begin(), going_on_.end(), tasks_[i].future))
                go_on(i, Ending::unknown);
        }
        for (const ObjectId one : going_on_) meet(HeapGraph::node_of(one));
        for (const NodeId node : graph_.targets(graph_.root())) meet_group(node);
        walk();
        meet_held();
        walk();
        return std::move(endings_);
    }

private:
    /// Nobody acts through what is garbage.
    void meet_group(NodeId node) {
        if (graph_.kind(node) == NodeKind::group && graph_.group_of(node) == graph_.unreachable_group())
            return;
        meet(node);
    }

    void meet(NodeId node) {
        if (met_[node]) return;
        met_[node] = true;
        if (graph_.kind(node) != NodeKind::object) return to_do_.push_back(node);
        const ObjectId object = HeapGraph::object_of(node);
        for_waiters(object, [&](std::uint32_t task) {
            // A task ends by its coroutine alone.
            if (types_.of(object) != AsyncType::task) go_on(task, Ending::unknown);
        });
        if (!closed_[object]) to_do_.push_back(node);
    }

    template <class F>
    void for_waiters(ObjectId future, F&& visit) {
        auto at = std::lower_bound(waiters_.begin(), waiters_.end(), std::pair(future, std::uint32_t{0}));
        for (; at != waiters_.end() && at->first == future; ++at) visit(at->second);
    }

    /// The task may go on, and so may those that wait for it: but it may also run for ever.
    void go_on(std::uint32_t number, Ending how) {
        std::vector<std::uint32_t> more{number};
        while (!more.empty()) {
            const std::uint32_t at = more.back();
            more.pop_back();
            const Ending before = endings_[at];
            endings_[at] = std::max(before, at == number ? how : Ending::unknown);
            if (before != Ending::never) continue;
            open(tasks_[at].task);
            for (const ObjectId one : tasks_[at].own) open(one);
            for_waiters(tasks_[at].task, [&](std::uint32_t other) { more.push_back(other); });
        }
    }

    void open(ObjectId object) {
        closed_[object] = false;
        met_[HeapGraph::node_of(object)] = true;
        to_do_.push_back(HeapGraph::node_of(object));
    }

    void walk() {
        while (!to_do_.empty()) {
            const NodeId node = to_do_.back();
            to_do_.pop_back();
            const bool is_object = graph_.kind(node) == NodeKind::object;
            if (is_object) look_at(HeapGraph::object_of(node));
            for (const NodeId target : graph_.targets(node)) meet(target);
        }
    }

    void look_at(ObjectId object) {
        switch (types_.of(object)) {
            case AsyncType::weak_reference: {
                const PythonHeap& python = graph_.heap().python_heap();
                const LayoutOffset to = python.layout().weakref.wr_object;
                if (!to.present()) return;
                const ObjectId target =
                    graph_.columns().find(python.pointer(graph_.columns().address_of(object) + *to));
                if (target != no_object) meet(HeapGraph::node_of(target));
                return;
            }
            case AsyncType::handle:
            case AsyncType::timer_handle:
                return look_at_handle(object);
            default:
                return;
        }
    }

    /// The tasks that a callback of the loop leads to in three steps, but by way of the loop, a module or a class.
    void look_at_handle(ObjectId handle) {
        std::vector<std::pair<ObjectId, int>> found{{handle, 0}};
        for (std::size_t i = 0; i < found.size() && found.size() < most_of_callback; ++i) {
            const auto [object, depth] = found[i];
            if (const auto task = number_of_.find(object); task != number_of_.end()) {
                go_on(task->second, Ending::unknown);
                continue;
            }
            if (depth == most_steps) continue;
            for (const ObjectId target : graph_.targets(object)) {
                if (found.size() == most_of_callback) break;
                if (types_.of(target) != AsyncType::loop && !graph_.is_structural(target))
                    found.emplace_back(target, depth + 1);
            }
        }
    }

    /// What counts more references than were found.
    void meet_held() {
        for (ObjectId object{0}; object < graph_.object_count(); ++object) {
            if (met_[HeapGraph::node_of(object)] || closed_[object]) continue;
            const CollectorFacts facts = graph_.heap().collector_facts(object);
            if (!facts.immortal &&
                facts.refcount > static_cast<std::int64_t>(graph_.columns().references->found(object)))
                meet(HeapGraph::node_of(object));
        }
    }

    static constexpr int most_steps = 4;  // handle, method, Timeout or a list, task

    const HeapGraph& graph_;
    const AsyncTypes& types_;
    std::span<const WaitingTask> tasks_;
    std::vector<Ending> endings_;
    std::vector<bool> met_;     // by node
    std::vector<bool> closed_;  // by object: not walked as long as its task waits
    std::unordered_map<std::uint32_t, std::uint32_t> number_of_;  // of a task
    std::vector<std::pair<ObjectId, std::uint32_t>> waiters_;     // by future: the tasks that wait for it
    std::vector<ObjectId> going_on_;
    std::vector<NodeId> to_do_;
};

}  // namespace

std::vector<Ending> task_endings(const HeapGraph& graph, const AsyncTypes& types,
                                 std::span<const WaitingTask> tasks, std::span<const ObjectId> going_on) {
    if (tasks.empty()) return {};
    return Walk(graph, types, tasks, going_on).endings();
}

}  // namespace heapsift
