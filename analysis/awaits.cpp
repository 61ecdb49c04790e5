// A coroutine that waits has on its stack what it awaits: another coroutine, and so on down to the one that asked a
// future for its result. A future says nothing of itself. What it stands for is told by who made it: Queue.get() has
// the queue in `self`, sleep() the handle of its timer in `h`. So from the innermost call outwards, as long as the
// code is asyncio's own, a table says what each function waits for, and which local has it. What has no such function
// is told by what the future calls when it is done: asyncio.wrap_future and shield leave a closure there that knows
// the other future. (Lib/asyncio of 3.6 to 3.15.)

#include "analysis/awaits.h"

#include "analysis/source_places.h"
#include "parsers/values/parts.h"

#include <algorithm>

namespace heapsift {

/// A function of asyncio that waits.
struct AwaitReader::Rule {
    std::string_view module, function;
    Awaits what;
    std::string_view local;  // that has what it waits for, or `attribute` of which has it
    std::string_view attribute = {};
    std::string_view timer = {};           // a local with the handle of a timer that ends it
    AsyncType only_of = AsyncType::other;  // of which type that local must be; other: any
    bool innermost_alone = false;          // says something only if no call inside it does
};

namespace {

constexpr std::size_t most_calls = 1000, few_calls = 8, most_tasks = 10'000, most_steps_to_call = 8;
constexpr std::uint64_t most_read = 1 << 24, most_looked_at = 1 << 24;

/// Of a timer's handle. A cancelled one keeps its time.
std::optional<double> time_of_timer(const PythonHeap& heap, Address timer) {
    return number_of(heap, attribute_of(heap, timer, "_when"));
}

std::string_view last_part(std::string_view qualified) {
    const std::size_t dot = qualified.rfind('.');
    return dot == std::string_view::npos ? qualified : qualified.substr(dot + 1);
}

/// Closures that asyncio adds to a future, and their variable that has the future behind it.
struct ClosureRule {
    std::string_view function, variable;
};
constexpr ClosureRule closure_rules[] = {{"_call_check_cancel", "source"},    // futures._chain_future
                                         {"_outer_done_callback", "inner"}};  // tasks.shield

}  // namespace

// In each module of asyncio names of functions are unique, but for methods of different classes, told by `only_of`.
const AwaitReader::Rule AwaitReader::rules[] = {
    {"asyncio.tasks", "sleep", Awaits::sleep, "h", {}, "h"},
    {"asyncio.tasks", "wait_for", Awaits::task, "fut", {}, "timeout_handle", AsyncType::other, true},
    {"asyncio.tasks", "_wait", Awaits::tasks, "fs", {}, "timeout_handle"},
    {"asyncio.tasks", "_cancel_and_wait", Awaits::task, "fut"},
    {"asyncio.tasks", "_wait_for_one", Awaits::tasks, "self", "_todo"},
    {"asyncio.taskgroups", "__aexit__", Awaits::tasks, "self", "_tasks", {}, AsyncType::task_group},
    {"asyncio.taskgroups", "_aexit", Awaits::tasks, "self", "_tasks", {}, AsyncType::task_group},
    {"asyncio.queues", "get", Awaits::queue_get, "self"},
    {"asyncio.queues", "put", Awaits::queue_put, "self"},
    {"asyncio.queues", "join", Awaits::queue_join, "self"},
    {"asyncio.locks", "acquire", Awaits::lock, "self", {}, {}, AsyncType::lock},
    {"asyncio.locks", "acquire", Awaits::semaphore, "self", {}, {}, AsyncType::semaphore},
    {"asyncio.locks", "wait", Awaits::event, "self", {}, {}, AsyncType::event},
    {"asyncio.locks", "wait", Awaits::condition, "self", {}, {}, AsyncType::condition},
    {"asyncio.locks", "wait", Awaits::barrier, "self", {}, {}, AsyncType::barrier},
    {"asyncio.streams", "_wait_for_data", Awaits::stream_read, "self"},
    {"asyncio.streams", "_drain_helper", Awaits::stream_write, "self"},
    {"asyncio.streams", "drain", Awaits::stream_write, "self"},
    {"asyncio.selector_events", "sock_recv", Awaits::socket, "sock"},
    {"asyncio.selector_events", "sock_recv_into", Awaits::socket, "sock"},
    {"asyncio.selector_events", "sock_recvfrom", Awaits::socket, "sock"},
    {"asyncio.selector_events", "sock_recvfrom_into", Awaits::socket, "sock"},
    {"asyncio.selector_events", "sock_sendall", Awaits::socket, "sock"},
    {"asyncio.selector_events", "sock_sendto", Awaits::socket, "sock"},
    {"asyncio.selector_events", "sock_connect", Awaits::socket, "sock"},
    {"asyncio.selector_events", "sock_accept", Awaits::socket, "sock"},
    {"asyncio.futures", "__await__", Awaits::future, "self"},
    {"asyncio.base_events", "serve_forever", Awaits::server, "self"},
    {"asyncio.base_events", "wait_closed", Awaits::server, "self"},
    {"asyncio.base_subprocess", "_wait", Awaits::process, "self"},
};

AwaitReader::AwaitReader(const HeapReader& heap)
    : heap_(heap), python_(heap.python_heap()), types_(heap), calls_(python_) {}

std::optional<ObjectReader> AwaitReader::reader(Address object) const { return object_at(python_, object); }

AsyncType AwaitReader::type_at(Address object) const {
    return object.is_null() ? AsyncType::other : types_.of(python_.type_of(object));
}

const AwaitReader::Code& AwaitReader::code(const PythonFrame& frame) const {
    const auto [at, is_new] = codes_.try_emplace(frame.code.value);
    if (!is_new) return at->second;
    const auto module = python_.unicode_text(python_.dict_value(frame.globals, "__name__"), 100);
    if (!module || !module->starts_with("asyncio.")) return at->second;
    at->second.of_asyncio = true;
    const std::string_view function = last_part(frame.name);
    for (const Rule& rule : rules)
        if (!at->second.rule && rule.module == *module && rule.function == function) at->second.rule = &rule;
    return at->second;
}

Address AwaitReader::local(const PythonFrame& frame, std::string_view name) const {
    Address found;
    visit_slots(python_, frame, [&](const FrameSlot& slot) {
        if (!found.is_null() || slot.what != FrameSlot::What::local || slot.name.is_null()) return;
        if (!python_.unicode_equals(slot.name, name)) return;
        const LayoutOffset content = python_.layout().cell.ob_ref;
        found = slot.cell && content.present() ? python_.pointer(slot.value + *content) : slot.value;
    });
    return !found.is_null() && is_none(python_, found) ? Address() : found;
}

/// What stands between a call and the next one: null at the end.
Address AwaitReader::next_of(Address awaited, Await& await) const {
    const Layout& l = python_.layout();
    const auto object = reader(awaited);
    if (!object) return {};
    switch (type_at(awaited)) {
        case AsyncType::coroutine_wrapper:
            return object->pointer(l.coroutine_wrapper.cw_coroutine);
        case AsyncType::step_of_generator: {
            // asend, athrow: the generator; anext(): what the generator's __anext__ returned.
            Address next;
            const ObjectId step = heap_.snapshot().find(awaited);
            if (step == no_object) return {};
            heap_.visit_references(step, [&](const Reference& reference) {
                const TypeId type = python_.type_of(reference.target);
                if (!next.is_null() || type == no_type) return;
                if (has_own_frame(python_.types()[type].known) ||
                    types_.of(type) == AsyncType::step_of_generator)
                    next = reference.target;
            });
            return next;
        }
        case AsyncType::future_iterator:
            await.future = object->pointer(l.future_iterator.future);
            return {};
        default:
            await.object = awaited;
            return {};
    }
}

bool AwaitReader::is_call(Address object) const {
    const TypeId type = object.is_null() ? no_type : python_.type_of(object);
    return type != no_type && has_own_frame(python_.types()[type].known);
}

/// The call that `awaited` is, or stands for; null if it is none, or one stands for another without end.
Address AwaitReader::call_behind(Address awaited, Await& await) const {
    for (std::size_t steps = 0; steps < most_steps_to_call && !awaited.is_null(); ++steps) {
        if (is_call(awaited)) return awaited;
        awaited = next_of(awaited, await);
    }
    return {};
}

void AwaitReader::follow(Address call, Await& await, CallState& state) const {
    // Many that await one long chain, as no program has, would each be as long.
    const std::size_t most = read_ < most_read ? most_calls : few_calls;
    for (Address at = call_behind(call, await); !at.is_null() && await.calls.size() < most;) {
        auto read = calls_.of(at);
        if (!read) return;
        ++read_;
        state = read->state;
        await.calls.push_back({at, std::move(read->frame)});
        if (state != CallState::suspended) return;
        at = call_behind(read->awaited, await);
    }
}

Address AwaitReader::inner_call(ObjectId call) const {
    Await await;
    const auto read = calls_.of(heap_.snapshot().address_of(call));
    return read ? call_behind(read->awaited, await) : Address();
}

FutureState AwaitReader::state_of(Address future) const {
    const TypeId type = future.is_null() ? no_type : python_.type_of(future);
    if (type == no_type) return FutureState::unknown;
    const ObjectReader object(python_, future, python_.types()[type]);
    switch (types_.of(type)) {
        case AsyncType::task:
            return task_facts(object, types_.is_of_c(type)).state;
        case AsyncType::future:
        case AsyncType::gathering_future:
            return future_state(object, types_.is_of_c(type));
        default:
            return FutureState::unknown;
    }
}

bool AwaitReader::is_pending(Address future) const { return state_of(future) == FutureState::pending; }

bool AwaitReader::is_done(Address future) const {
    const FutureState state = state_of(future);
    return state == FutureState::cancelled || state == FutureState::finished;
}

std::vector<Address> AwaitReader::pending_in(Address container) const {
    std::vector<Address> found;
    const HeapSnapshot& columns = heap_.snapshot();
    const ObjectId object = container.is_null() ? no_object : columns.find(container);
    if (object == no_object) return found;
    for (const ObjectId target : columns.references->targets(object)) {
        // Not all of a large set for each of many that wait for it.
        if (found.size() == most_tasks || ++looked_at_ > most_looked_at) break;
        const Address at = columns.address_of(target);
        if (is_pending(at)) found.push_back(at);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

/// Of the calls of asyncio that are innermost, the outermost that the table knows says what it is for: Barrier.wait()
/// waits on a Condition, and that on a future.
bool AwaitReader::judge_by_calls(Await& await) const {
    const Rule* best = nullptr;
    const PythonFrame* frame = nullptr;
    for (auto call = await.calls.rbegin(); call != await.calls.rend(); ++call) {
        const Code& of = code(call->frame);
        if (!of.of_asyncio) break;
        if (!of.rule || (of.rule->innermost_alone && best)) continue;
        const Address holder = local(call->frame, of.rule->local);
        // Several methods of one name: by what `self` is.
        for (const Rule* rule = of.rule; rule != std::end(rules) && rule->function == of.rule->function &&
                                         rule->module == of.rule->module;
             ++rule) {
            const Address found = rule->local == of.rule->local ? holder : local(call->frame, rule->local);
            if (found.is_null()) continue;
            if (rule->only_of != AsyncType::other && type_at(found) != rule->only_of) continue;
            best = rule;
            frame = &call->frame;
            await.object = found;
            break;
        }
    }
    if (!best) return false;
    await.what = best->what;
    if (!best->timer.empty()) await.until = time_of_timer(python_, local(*frame, best->timer));
    // asyncio.wait leaves them alone.
    await.cancels = best->innermost_alone || best->only_of == AsyncType::task_group;
    if (best->what == Awaits::tasks)
        await.tasks = pending_in(
            best->attribute.empty() ? await.object : attribute_of(python_, await.object, best->attribute));
    if (best->what == Awaits::task) {
        if (type_at(await.object) != AsyncType::task) await.what = Awaits::future;
        if (is_pending(await.object)) await.tasks = {await.object};
    }
    return true;
}

/// A future that stands for another one has a closure among its callbacks.
bool AwaitReader::judge_by_callbacks(Await& await) const {
    const auto future = reader(await.future);
    if (!future) return false;
    const auto& l = python_.layout();
    for (const Address callback : future_callbacks(*future, types_.is_of_c(python_.type_of(await.future)))) {
        if (!python_.types().is(python_.type_of(callback), KnownType::function)) continue;
        const Address its_code = python_.pointer(callback + *l.function.func_code);
        const auto known = callbacks_.find(its_code.value);
        if (known != callbacks_.end() && !known->second) continue;
        const auto name = python_.unicode_text(python_.pointer(its_code + *l.code.co_name), 100);
        const auto rule = std::find_if(std::begin(closure_rules), std::end(closure_rules),
                                       [&](const ClosureRule& one) { return name && one.function == *name; });
        callbacks_.emplace(its_code.value, rule != std::end(closure_rules));
        if (rule == std::end(closure_rules)) continue;
        const std::vector<std::string> variables = free_variables(python_, callback);
        const auto cells =
            first_items(python_, python_.pointer(callback + *l.function.func_closure), 64).items;
        for (std::size_t i = 0; i < variables.size() && i < cells.size(); ++i) {
            if (variables[i] != rule->variable || !l.cell.ob_ref.present()) continue;
            const Address other = python_.pointer(cells[i] + *l.cell.ob_ref);
            const AsyncType type = type_at(other);
            if (type == AsyncType::concurrent_future)
                await.what = Awaits::thread;
            else if (type == AsyncType::task || type == AsyncType::future ||
                     type == AsyncType::gathering_future)
                await.what = type == AsyncType::task ? Awaits::task : Awaits::future;
            else
                continue;
            await.object = other;
            if (is_pending(other)) await.tasks = {other};
            return true;
        }
    }
    return false;
}

void AwaitReader::judge(Await& await) const {
    switch (type_at(await.future)) {
        case AsyncType::task:
            await.what = Awaits::task;
            await.object = await.future;
            await.tasks = {await.future};
            await.cancels = true;
            return;
        case AsyncType::gathering_future:
            await.what = Awaits::tasks;
            await.object = await.future;
            await.tasks = pending_in(attribute_of(python_, await.future, "_children"));
            await.cancels = true;
            return;
        default:
            break;
    }
    if (judge_by_calls(await)) return;
    if (judge_by_callbacks(await)) return;
    if (!await.future.is_null()) {
        await.what = Awaits::future;
        await.object = await.future;
    } else if (!await.object.is_null()) {
        await.what = Awaits::object;
    }
}

Await AwaitReader::of_task(ObjectId task) const {
    Await await;
    const HeapSnapshot& columns = heap_.snapshot();
    const TypeId type = columns.type_of(task);
    const ObjectReader object(python_, columns.address_of(task), columns.types[type]);
    const TaskFacts facts = task_facts(object, types_.is_of_c(type));
    CallState state = CallState::finished;
    follow(facts.coroutine, await, state);
    if (state == CallState::running) {
        await.what = Awaits::running;
        await.object = await.future = Address();
        return await;
    }
    if (facts.waiter.is_null() || is_done(facts.waiter)) {
        const bool begun = await.calls.size() != 1 || state != CallState::created;
        await.future = facts.waiter;
        await.object = {};
        await.what = begun ? Awaits::ready : Awaits::not_started;
        return await;
    }
    await.future = facts.waiter;
    judge(await);
    return await;
}

std::optional<Await> AwaitReader::of_call(ObjectId call) const {
    Await await;
    CallState state = CallState::finished;
    follow(heap_.snapshot().address_of(call), await, state);
    if (await.calls.empty()) return std::nullopt;
    if (state == CallState::running)
        await.what = Awaits::running;
    else if (state == CallState::created && await.calls.size() == 1)
        await.what = Awaits::not_started;
    else if (!await.future.is_null() || !await.object.is_null())
        judge(await);
    else if (!judge_by_calls(await))
        await.what = Awaits::caller;
    return await;
}

}  // namespace heapsift
