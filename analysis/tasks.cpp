// Every object of a type that can be suspended is read once: first tasks, with the calls that they await, then what
// is left of coroutines and generators. One that another one awaits is a part of that one, and no row.

#include "analysis/tasks.h"

#include "analysis/task_ends.h"
#include "parsers/libraries/greenlets.h"
#include "parsers/values/parts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

namespace heapsift {
namespace {

constexpr std::size_t most_details = 20;  // of a list
constexpr std::size_t most_exact_groups = 64;
constexpr std::size_t longest_qualname = 1000;

TaskKind kind_of_call(KnownType type) {
    return type == KnownType::coroutine         ? TaskKind::coroutine
           : type == KnownType::async_generator ? TaskKind::async_generator
                                                : TaskKind::generator;
}

/// The outermost first.
std::vector<AwaitedCall> calls_of_greenlet(const ObjectReader& greenlet) {
    std::vector<AwaitedCall> calls;
    for (PythonFrame& frame : greenlet_frames(greenlet)) calls.push_back({{}, std::move(frame)});
    std::reverse(calls.begin(), calls.end());
    return calls;
}

/// Rows that were kept may name any object.
bool is_of_kind(const AwaitReader& awaits, const HeapSnapshot& columns, const TaskRow& row) {
    const TypeId type = columns.type_of(row.object);
    if (type == no_type) return false;
    const AsyncType what = awaits.types().of(type);
    if (row.kind == TaskKind::task) return what == AsyncType::task;
    if (row.kind == TaskKind::greenlet) return what == AsyncType::greenlet;
    return has_own_frame(columns.types[type].known);
}

/// Says where something is suspended.
class PlaceReader {
public:
    explicit PlaceReader(const HeapReader& heap)
        : columns_(heap.snapshot()), python_(heap.python_heap()), library_(library_folder(*columns_.roots)) {}

    /// `coroutine` may be null.
    TaskPlace task(Address coroutine, const Await& await) const {
        return place(await.calls, name_of_call(coroutine, await));
    }
    TaskPlace call(Address call, const Await& await) const { return task(call, await); }
    TaskPlace greenlet(const Await& await) const {
        return place(await.calls, await.calls.front().frame.name);
    }
    /// Of a row that was found before.
    TaskPlace of_row(const AwaitReader& awaits, const TaskRow& row) const {
        if (!is_of_kind(awaits, columns_, row)) return {};
        const ObjectReader reader(python_, row.address, columns_.type_info(row.object));
        if (row.kind == TaskKind::greenlet) {
            Await await;
            await.calls = calls_of_greenlet(reader);
            return await.calls.empty() ? TaskPlace() : greenlet(await);
        }
        if (row.kind != TaskKind::task) {
            const auto await = awaits.of_call(row.object);
            return await ? call(row.address, *await) : TaskPlace();
        }
        return task(task_facts(reader, awaits.types().is_of_c(columns_.type_of(row.object))).coroutine,
                    awaits.of_task(row.object));
    }

private:
    /// __qualname__ of a coroutine; of another object that is awaited, its type.
    std::string name_of_call(Address coroutine, const Await& await) const {
        const std::string first = await.calls.empty() ? "" : await.calls.front().frame.name;
        const TypeId type = coroutine.is_null() ? no_type : python_.type_of(coroutine);
        if (type == no_type) return first;
        if (!has_own_frame(columns_.types[type].known)) return columns_.types[type].name;
        const Address name = python_.pointer(coroutine + *python_.layout().generator.gi_qualname);
        return python_.unicode_text(name, longest_qualname).value_or(first);
    }

    /// Of calls, the outermost first.
    TaskPlace place(const std::vector<AwaitedCall>& calls, std::string name) const {
        TaskPlace made{.coroutine = std::move(name)};
        const auto of_program = std::find_if(calls.rbegin(), calls.rend(), [&](const AwaitedCall& call) {
            return is_file_of_program(call.frame.file, library_);
        });
        if (calls.empty()) return made;
        const AwaitedCall& at = of_program != calls.rend() ? *of_program : calls.back();
        made.function = at.frame.name;
        made.file = at.frame.file;
        made.line = at.frame.line;
        made.outermost = &at == &calls.front();
        return made;
    }

    const HeapSnapshot& columns_;
    const PythonHeap& python_;
    std::string library_;
};

/// In the order of their first rows; `group_of_row` gets the number of each row's group.
std::vector<TaskGroup> grouped_rows(const TasksResult& result, const std::vector<std::uint32_t>& rows,
                                    std::vector<std::uint32_t>& group_of_row) {
    using Key = std::tuple<TaskKind, Awaits, std::uint32_t, int>;
    std::map<Key, std::uint32_t> numbers;
    std::vector<TaskGroup> groups;
    for (const std::uint32_t number : rows) {
        const TaskRow& row = result.rows[number];
        const int finishes = row.finishes ? *row.finishes : 2;
        const auto [at, is_new] = numbers.emplace(Key(row.kind, row.awaits, row.place, finishes),
                                                  static_cast<std::uint32_t>(groups.size()));
        if (is_new)
            groups.push_back({.kind = row.kind,
                              .awaits = row.awaits,
                              .place = row.place,
                              .finishes = row.finishes,
                              .example = row.address});
        TaskGroup& group = groups[at->second];
        ++group.count;
        group.retained += row.retained;
        group_of_row.push_back(at->second);
    }
    return groups;
}

class TaskFinder {
public:
    TaskFinder(const AwaitReader& awaits, const RetainedLookup& retained)
        : awaits_(awaits),
          retained_(retained),
          graph_(retained.graph()),
          heap_(graph_.heap()),
          columns_(graph_.columns()),
          python_(heap_.python_heap()),
          places_of_(heap_),
          inner_(columns_.object_count()) {}

    TasksResult find() && {
        sort_objects();
        for (const ObjectId task : tasks_) add_task(task);
        // What another one awaits is a part of that one. Of a task all are known already.
        const std::vector<bool> of_tasks = inner_;
        for (const ObjectId call : calls_)
            if (!of_tasks[call])
                if (const ObjectId one = object_at_address(awaits_.inner_call(call)); one != no_object)
                    inner_[one] = true;
        for (const ObjectId call : calls_)
            if (!inner_[call]) add_call(call);
        for (const ObjectId greenlet : greenlets_) add_greenlet(greenlet);
        judge_endings();
        for (TaskRow& row : result_.rows) {
            row.retained = retained_with_calls(row.object);
            ++result_.counts[static_cast<std::size_t>(row.kind)];
            result_.never += row.finishes == false;
        }
        std::sort(result_.rows.begin(), result_.rows.end(), [](const TaskRow& a, const TaskRow& b) {
            return std::tuple(~a.retained, a.object) < std::tuple(~b.retained, b.object);
        });
        std::sort(result_.awaited_by.begin(), result_.awaited_by.end());
        add_groups();
        return std::move(result_);
    }

private:
    void sort_objects() {
        for (ObjectId object{0}; object < columns_.object_count(); ++object) {
            const TypeId type = columns_.type_of(object);
            if (type == no_type) continue;
            switch (awaits_.types().of(type)) {
                case AsyncType::task:
                    tasks_.push_back(object);
                    break;
                case AsyncType::greenlet:
                    greenlets_.push_back(object);
                    break;
                case AsyncType::timeout:
                    add_timeout(columns_.address_of(object));
                    break;
                case AsyncType::loop:
                    add_loop(object);
                    break;
                default:
                    if (has_own_frame(columns_.types[type].known)) calls_.push_back(object);
            }
        }
    }

    /// Of garbage each that is in a cycle stands for itself: a task with its calls.
    std::uint64_t retained_with_calls(ObjectId object) const {
        std::uint64_t bytes = retained_.memory(object);
        for_calls_of_garbage(object, [&](ObjectId call) {
            if (!retained_.dominates(object, call)) bytes += retained_.memory(call);
        });
        return bytes;
    }

    template <class F>
    void for_calls_of_garbage(ObjectId object, F&& visit) const {
        if (graph_.reach(object) != Reach::unreachable) return;
        const auto at = number_of_waiting_.find(object);
        if (at == number_of_waiting_.end()) return;
        for (const ObjectId call : waiting_[at->second].own)
            if (graph_.reach(call) == Reach::unreachable) visit(call);
    }

    void add_loop(ObjectId object) {
        const Address thread = attribute_of(python_, columns_.address_of(object), "_thread_id");
        const auto number = thread.is_null() ? std::nullopt : int_value(python_, thread);
        result_.loops.push_back({object, number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0});
    }

    /// One that has been entered and not left has the handle of its timer.
    void add_timeout(Address timeout) {
        const Address task = attribute_of(python_, timeout, "_task"),
                      handle = attribute_of(python_, timeout, "_timeout_handler");
        if (task.is_null() || handle.is_null()) return;
        const auto when = number_of(python_, attribute_of(python_, handle, "_when"));
        if (!when) return;
        const auto [at, is_new] = timeouts_.emplace(task.value, *when);
        if (!is_new) at->second = std::min(at->second, *when);
    }

    ObjectReader reader(ObjectId object) const {
        return {python_, columns_.address_of(object), columns_.type_info(object)};
    }

    void add_task(ObjectId task) {
        const TaskFacts facts = task_facts(reader(task), awaits_.types().is_of_c(columns_.type_of(task)));
        if (facts.state == FutureState::cancelled || facts.state == FutureState::finished) ++result_.ended;
        if (facts.state != FutureState::pending) return;
        const Await await = awaits_.of_task(task);
        TaskRow& row = add_row(task, TaskKind::task, await);
        row.loop = object_at_address(facts.loop);
        if (const auto timeout = timeouts_.find(columns_.address_of(task).value); timeout != timeouts_.end())
            row.until = std::min(row.until.value_or(timeout->second), timeout->second);
        if (row.waits_for == no_object && row.future == no_object) row.until.reset();
        const bool cancelled_by_timer =
            row.until && (timeouts_.contains(columns_.address_of(task).value) || await.cancels);
        if (cancelled_by_timer) cancelled_.push_back(task);
        row.place = place(places_of_.task(facts.coroutine, await));
        for (const AwaitedCall& call : await.calls) {
            const ObjectId one = object_at_address(call.object);
            if (one != no_object) inner_[one] = true;
        }
        for (const Address waited : await.tasks)
            if (const ObjectId one = object_at_address(waited); one != no_object) {
                result_.awaited_by.emplace_back(one, task);
                if (await.cancels) cancels_.emplace_back(task, one);
            }
        note_for_ending(row, await);
    }

    void note_for_ending(const TaskRow& row, const Await& await) {
        const bool waits =
            row.awaits != Awaits::running && row.awaits != Awaits::ready && row.awaits != Awaits::not_started;
        if (!waits || row.future == no_object) {
            if (!waits) going_on_.push_back(row.object);
            return;
        }
        WaitingTask one{.task = row.object, .future = row.future, .by_time = row.until.has_value()};
        for (const AwaitedCall& call : await.calls)
            for (const Address at : {call.object, call.frame.object})
                if (const ObjectId object = object_at_address(at); object != no_object)
                    one.own.push_back(object);
        ending_rows_.push_back(result_.rows.size() - 1);
        waiting_.push_back(std::move(one));
    }

    void add_call(ObjectId object) {
        const auto await = awaits_.of_call(object);
        if (!await) return;
        if (await->what == Awaits::running) return;
        TaskRow& row = add_row(object, kind_of_call(columns_.type_info(object).known), *await);
        row.place = place(places_of_.call(columns_.address_of(object), *await));
    }

    void add_greenlet(ObjectId object) {
        Await await;
        await.calls = calls_of_greenlet(reader(object));
        if (await.calls.empty()) return;
        await.what = Awaits::switched;
        TaskRow& row = add_row(object, TaskKind::greenlet, await);
        row.place = place(places_of_.greenlet(await));
    }

    TaskRow& add_row(ObjectId object, TaskKind kind, const Await& await) {
        TaskRow& row = result_.rows.emplace_back();
        row.object = object;
        row.address = columns_.address_of(object);
        row.kind = kind;
        row.awaits = await.what;
        row.waits_for = object_at_address(await.object);
        row.future = object_at_address(await.future);
        row.until = await.until;
        return row;
    }

    ObjectId object_at_address(Address address) const {
        return address.is_null() ? no_object : columns_.find(address);
    }

    std::uint32_t place(TaskPlace made) {
        const auto [known, is_new] =
            places_.emplace(std::move(made), static_cast<std::uint32_t>(result_.places.size()));
        if (is_new) result_.places.push_back(known->first);
        return known->second;
    }

    /// What a timer cancels, and what is cancelled with that.
    void add_cancelled() {
        std::sort(cancels_.begin(), cancels_.end());
        for (std::size_t i = 0; i < waiting_.size(); ++i) number_of_waiting_.emplace(waiting_[i].task, i);
        std::unordered_set<std::uint32_t> met;
        while (!cancelled_.empty()) {
            const ObjectId task = cancelled_.back();
            cancelled_.pop_back();
            if (!met.insert(task).second) continue;
            if (const auto at = number_of_waiting_.find(task); at != number_of_waiting_.end())
                waiting_[at->second].by_time = true;
            for (auto at = std::lower_bound(cancels_.begin(), cancels_.end(), std::pair(task, ObjectId(0)));
                 at != cancels_.end() && at->first == task; ++at)
                cancelled_.push_back(at->second);
        }
    }

    void judge_endings() {
        add_cancelled();
        const std::vector<Ending> endings = task_endings(graph_, awaits_.types(), waiting_, going_on_);
        for (std::size_t i = 0; i < endings.size(); ++i) {
            TaskRow& row = result_.rows[ending_rows_[i]];
            if (endings[i] == Ending::never) row.finishes = false;
            if (endings[i] == Ending::comes) row.finishes = true;
        }
    }

    void add_groups() {
        std::vector<std::uint32_t> all(result_.rows.size()), group_of_row;
        std::iota(all.begin(), all.end(), 0U);
        result_.groups = grouped_rows(result_, all, group_of_row);
        retain_groups(group_of_row);
        std::sort(result_.groups.begin(), result_.groups.end(), [&](const TaskGroup& a, const TaskGroup& b) {
            return std::tuple(~a.retained, ~a.count, a.example) <
                   std::tuple(~b.retained, ~b.count, b.example);
        });
    }

    /// The sum leaves out what they keep together: for the groups of most rows that is added.
    void retain_groups(const std::vector<std::uint32_t>& group_of_row) {
        std::vector<std::uint32_t> order;
        for (std::uint32_t i = 0; i < result_.groups.size(); ++i)
            if (result_.groups[i].count > 1) order.push_back(i);
        std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
            return result_.groups[a].count > result_.groups[b].count;
        });
        if (order.size() > most_exact_groups) order.resize(most_exact_groups);
        if (order.empty()) return;
        std::vector<std::int32_t> set_of_group(result_.groups.size(), -1);
        for (std::size_t i = 0; i < order.size(); ++i) set_of_group[order[i]] = static_cast<std::int32_t>(i);
        std::unordered_map<std::uint32_t, std::int32_t> set_of_object;
        for (std::size_t i = 0; i < result_.rows.size(); ++i)
            if (const std::int32_t set = set_of_group[group_of_row[i]]; set >= 0) {
                set_of_object.emplace(result_.rows[i].object, set);
                for_calls_of_garbage(result_.rows[i].object,
                                     [&](ObjectId call) { set_of_object.emplace(call, set); });
            }
        const std::vector<SetRetained> sets = retained_by_sets(graph_, order.size(), [&](ObjectId object) {
            const auto at = set_of_object.find(object);
            return at == set_of_object.end() ? -1 : at->second;
        });
        for (std::size_t i = 0; i < order.size(); ++i) result_.groups[order[i]].retained = sets[i].memory;
    }

    const AwaitReader& awaits_;
    const RetainedLookup& retained_;
    const HeapGraph& graph_;
    const HeapReader& heap_;
    const HeapSnapshot& columns_;
    const PythonHeap& python_;
    PlaceReader places_of_;
    std::vector<bool> inner_;  // by object: a call that another one awaits
    std::vector<ObjectId> tasks_, calls_, greenlets_;
    std::unordered_map<std::uint64_t, double> timeouts_;  // by address of a task
    std::map<TaskPlace, std::uint32_t> places_;
    std::vector<WaitingTask> waiting_;
    std::vector<std::size_t> ending_rows_;                              // of each
    std::unordered_map<std::uint32_t, std::size_t> number_of_waiting_;  // by task
    std::vector<ObjectId> going_on_;
    std::vector<ObjectId> cancelled_;                     // by a timer
    std::vector<std::pair<ObjectId, ObjectId>> cancels_;  // (a task, one that is cancelled with it)
    TasksResult result_;
};

/// What was found, without names: those are read anew, one for each place.
struct KeptTasks {
    TasksResult result;
    std::vector<std::uint32_t> first_rows;  // of each place

    KeptTasks() = default;
    explicit KeptTasks(TasksResult found) : result(std::move(found)), first_rows(result.places.size()) {
        for (std::size_t i = result.rows.size(); i-- > 0;)
            first_rows[result.rows[i].place] = static_cast<std::uint32_t>(i);
    }

    std::size_t rows() const { return result.rows.size() + result.awaited_by.size(); }

    void read_rest(const AwaitReader& awaits, const HeapReader& heap) {
        for (TaskRow& row : result.rows) row.address = heap.snapshot().address_of(row.object);
        const PlaceReader reader(heap);
        for (const std::uint32_t row : first_rows)
            result.places.push_back(reader.of_row(awaits, result.rows[row]));
    }

    template <class Self, class Part>
    static void fields(Self& self, Part& part, const HeapReader& heap) {
        auto& result = self.result;
        part.list(self.first_rows, [](auto& row, Part& p) { p.number(row); });
        const std::size_t places = self.first_rows.size();
        part.list(result.rows, [&](auto& row, Part& p) {
            kept_object(row.object, p, heap);
            shared_fields(row, p, places);
            kept_object_or_none(row.waits_for, p, heap);
            kept_object_or_none(row.future, p, heap);
            kept_object_or_none(row.loop, p, heap);
            auto until = std::bit_cast<std::uint64_t>(row.until.value_or(std::nan("")));
            p.number(until);
            if constexpr (Part::reading)
                if (const auto time = std::bit_cast<double>(until); std::isfinite(time)) row.until = time;
        });
        for (const std::uint32_t row : self.first_rows)
            part.require(row < result.rows.size(), "a place is no row's");
        part.list(result.groups, [&](auto& group, Part& p) {
            shared_fields(group, p, places);
            p.number(group.count);
            p.number(group.example);
        });
        for (auto& count : result.counts) part.number(count);
        part.number(result.never);
        part.number(result.ended);
        part.list(result.loops, [&](auto& loop, Part& p) {
            kept_object(loop.loop, p, heap);
            p.number(loop.thread_id);
        });
        part.list(result.awaited_by, [&](auto& pair, Part& p) {
            kept_object(pair.first, p, heap);
            kept_object(pair.second, p, heap);
        });
        part.require(std::is_sorted(result.awaited_by.begin(), result.awaited_by.end()),
                     "who waits for whom is not in order");
    }

private:
    template <class Of, class Part>
    static void shared_fields(Of& of, Part& part, std::size_t places) {
        part.number(of.kind);
        part.number(of.awaits);
        part.number(of.place);
        part.require(of.kind <= TaskKind::generator && of.awaits <= Awaits::object && of.place < places,
                     "a kind, a wait or a place is out of range");
        std::uint8_t finishes = of.finishes ? *of.finishes : 2;
        part.number(finishes);
        part.require(finishes <= 2, "a value is neither true nor false");
        if constexpr (Part::reading)
            of.finishes = finishes == 2 ? std::nullopt : std::optional(finishes == 1);
        part.number(of.retained);
    }
};

/// By id: they are sorted.
std::vector<ObjectId> awaiters_of(const TasksResult& result, ObjectId object) {
    std::vector<ObjectId> found;
    for (auto at = std::lower_bound(result.awaited_by.begin(), result.awaited_by.end(),
                                    std::pair(object, ObjectId(0)));
         at != result.awaited_by.end() && at->first == object; ++at)
        found.push_back(at->second);
    return found;
}

}  // namespace

TasksResult tasks(const AwaitReader& awaits, const RetainedLookup& retained, const ProgressCallback& progress,
                  KeptAnswers* answers) {
    if (progress) progress("tasks", 0);
    const HeapReader& heap = retained.graph().heap();
    bool found_now = false;
    KeptTasks kept = kept_answer(answers, KeptQuestion("tasks"), heap, [&] {
        found_now = true;
        return KeptTasks(TaskFinder(awaits, retained).find());
    });
    if (!found_now) kept.read_rest(awaits, heap);
    return std::move(kept.result);
}

std::vector<std::vector<std::uint32_t>> tasks_of_threads(const TasksResult& result,
                                                         const std::vector<std::uint64_t>& thread_ids) {
    std::unordered_map<std::uint32_t, std::size_t> thread_of_loop;
    for (const TaskLoop& loop : result.loops)
        for (std::size_t i = 0; i < thread_ids.size(); ++i)
            if (loop.thread_id != 0 && thread_ids[i] == loop.thread_id) thread_of_loop.emplace(loop.loop, i);
    std::vector<std::vector<std::uint32_t>> rows(thread_ids.size());
    for (std::size_t i = 0; i < result.rows.size(); ++i)
        if (const auto at = thread_of_loop.find(result.rows[i].loop); at != thread_of_loop.end())
            rows[at->second].push_back(static_cast<std::uint32_t>(i));
    return rows;
}

std::vector<TaskGroup> groups_of(const TasksResult& result, const std::vector<std::uint32_t>& rows) {
    std::vector<std::uint32_t> group_of_row;
    std::vector<TaskGroup> groups = grouped_rows(result, rows, group_of_row);
    std::stable_sort(groups.begin(), groups.end(),
                     [](const TaskGroup& a, const TaskGroup& b) { return a.count > b.count; });
    return groups;
}

TasksResult tasks_waiting_for(const TasksResult& result, ObjectId object) {
    TasksResult some;
    some.places = result.places;
    some.loops = result.loops;
    some.awaited_by = result.awaited_by;
    for (const TaskRow& row : result.rows) {
        if (row.waits_for != object && row.future != object) continue;
        some.rows.push_back(row);
        ++some.counts[static_cast<std::size_t>(row.kind)];
        some.never += row.finishes == false;
    }
    std::vector<std::uint32_t> all(some.rows.size());
    std::iota(all.begin(), all.end(), 0U);
    some.groups = groups_of(some, all);
    return some;
}

TaskDetails task_details(const AwaitReader& awaits, const RetainedLookup& retained, const TasksResult& result,
                         const TaskRow& row) {
    const HeapReader& heap = retained.graph().heap();
    const HeapSnapshot& columns = heap.snapshot();
    TaskDetails details;
    details.object = object_row(heap, row.object);
    details.object.retained = row.retained;
    if (row.waits_for != no_object) {
        details.waits_for = object_row(heap, row.waits_for);
        details.waits_for->retained = retained.memory(row.waits_for);
    }
    if (row.future != no_object) details.future = columns.address_of(row.future);
    if (!is_of_kind(awaits, columns, row)) return details;
    std::vector<Address> waited;
    const ObjectReader reader(heap.python_heap(), columns.address_of(row.object),
                              columns.type_info(row.object));
    if (row.kind == TaskKind::task) {
        Await await = awaits.of_task(row.object);
        details.name = task_name(reader, awaits.types().is_of_c(columns.type_of(row.object)));
        details.calls = std::move(await.calls);
        waited = std::move(await.tasks);
    } else if (row.kind == TaskKind::greenlet) {
        for (PythonFrame& frame : greenlet_frames(reader)) details.calls.push_back({{}, std::move(frame)});
        std::reverse(details.calls.begin(), details.calls.end());
    } else if (auto await = awaits.of_call(row.object)) {
        details.calls = std::move(await->calls);
        waited = std::move(await->tasks);
    }
    details.waits_on_count = waited.size();
    for (const Address at : waited)
        if (const ObjectId one = columns.find(at); one != no_object && details.waits_on.size() < most_details)
            details.waits_on.push_back(brief_object_row(heap, one));
    const std::vector<ObjectId> awaiters = awaiters_of(result, row.object);
    details.awaited_by_count = awaiters.size();
    for (const ObjectId one : awaiters)
        if (details.awaited_by.size() < most_details)
            details.awaited_by.push_back(brief_object_row(heap, one));
    return details;
}

}  // namespace heapsift
