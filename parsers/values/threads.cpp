// Locks, threads, events, queues: in what state they are.
//
// A lock begins, after the object's header, with a pointer to the system's lock; in _thread.lock two words later a byte
// says whether it is held, in _thread.RLock follow the owner's ident and how often it holds it (_threadmodule.c of 3.9
// to 3.13.0). In later releases of 3.13 a lock is a mutex of one byte. Whose ident that is, threading._active says.
// A Thread has its state in attributes; since 3.13 whether it has ended is in the handle of the system's thread, where
// the state stands two words behind the ident that both have.

#include "parsers/values/families.h"
#include "parsers/values/parts.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {

namespace {

constexpr std::uint64_t machine_word = 8;
constexpr std::size_t most_threads = 4096;
constexpr std::int32_t handle_running = 3, handle_done = 4;  // ThreadHandleState, pycore_pythread.h of 3.13
constexpr std::uint64_t most_of_handle = 64;

ShortValue named_value(std::string text) { return {.kind = ShortValue::Kind::name, .text = std::move(text)}; }

/// Where the lock's own fields begin, if they read as a lock's.
std::optional<Address> lock_fields(const Describing& of, std::uint64_t words) {
    const std::uint64_t header = *of.object.layout().object.size;
    if (of.object.type().basicsize < header + words * machine_word) return std::nullopt;
    const Address fields = of.object.at(header);
    const Address system = of.heap().pointer(fields);
    if (system.is_null() || !of.heap().memory().read<std::uint64_t>(system)) return std::nullopt;
    return fields;
}

/// In 3.13.5, and not yet in 3.13.0, a lock is a PyMutex, one byte: bit 0 while it is held, bit 1 while somebody waits.
std::optional<std::uint8_t> mutex_of(const Describing& of, std::uint64_t words) {
    constexpr std::uint8_t most = 3;
    const std::uint64_t header = *of.object.layout().object.size;
    if (of.object.type().basicsize != header + words * machine_word) return std::nullopt;
    const auto bits = of.heap().memory().read<std::uint8_t>(of.object.at(header));
    return bits && *bits <= most ? bits : std::nullopt;
}

ShortValue lock(const Describing& of) {
    if (const auto mutex = mutex_of(of, 1))
        return named_value(*mutex & 1 ? "<lock, held>" : "<lock, not held>");
    const auto fields = lock_fields(of, 3);
    if (!fields) return {};
    const auto held = of.heap().memory().read<std::uint8_t>(*fields + 2 * machine_word);
    if (!held || *held > 1) return {};
    return named_value(*held ? "<lock, held>" : "<lock, not held>");
}

/// The name of the thread with this ident; empty if threading does not know it.
std::string thread_name(const PythonHeap& heap, std::uint64_t ident) {
    for (const PythonInterpreter& interpreter : heap.runtime().interpreters) {
        const Address module = heap.dict_value(interpreter.modules, "threading");
        if (module.is_null()) continue;
        const Address active =
            heap.dict_value(heap.pointer(module + *heap.layout().module.md_dict), "_active");
        for (const auto& [key, thread] : first_entries(heap, active, most_threads)) {
            const auto known = int_value(heap, key);
            if (!known || static_cast<std::uint64_t>(*known) != ident) continue;
            if (const auto object = object_at(heap, thread))
                return str_value(heap, stored_attribute(*object, "_name")).value_or("");
        }
    }
    return {};
}

ShortValue recursive_lock(const Describing& of) {
    // 3.14: a mutex, the owner, and how often it holds it beyond once.
    const bool mutex = mutex_of(of, 3).has_value();
    const auto fields =
        mutex ? of.object.at(*of.object.layout().object.size) : lock_fields(of, 4).value_or(Address());
    if (fields.is_null()) return {};
    const auto owner = of.heap().integer<std::uint64_t>(fields + machine_word);
    auto count = of.heap().integer<std::uint64_t>(fields + 2 * machine_word);
    if (mutex && owner != 0) ++count;
    if ((owner == 0) != (count == 0) || count > (std::uint64_t{1} << 32)) return {};
    if (count == 0) return named_value("<RLock, not held>");
    const std::string times = count == 1 ? "" : fmt::format(", {} times", count);
    const std::string name = thread_name(of.heap(), owner);
    const std::string kept = fmt::format("<RLock, held by thread {:#x}{}>", owner, times);
    if (name.empty()) return named_value(kept);
    return {.kind = ShortValue::Kind::summary,
            .text = fmt::format("<RLock, held by thread {}{}>", quoted_str(name), times),
            .without_values = kept};
}

bool flag_of(const Describing& of, Address holder, std::string_view name) {
    const auto object = object_at(of.heap(), holder);
    return object && is_true(of.heap(), stored_attribute(*object, name));
}

/// Nothing up to 3.12, or where the handle does not read.
std::optional<std::int32_t> handle_state(const Describing& of, std::uint64_t ident) {
    auto handle = object_at(of.heap(), stored_attribute(of.object, "_handle"));
    if (!handle) handle = object_at(of.heap(), stored_attribute(of.object, "_os_thread_handle"));  // since 3.14
    if (!handle || handle->type().python_class) return std::nullopt;
    const Address fields = of.heap().pointer(handle->at(*of.object.layout().object.size));
    for (std::uint64_t at = machine_word; at < most_of_handle; at += machine_word) {
        if (ident == 0 || of.heap().integer<std::uint64_t>(fields + at) != ident) continue;
        const auto state = of.heap().integer<std::int32_t>(fields + at + 2 * machine_word + 4);
        if (state == handle_running || state == handle_done) return state;
    }
    return std::nullopt;
}

/// As its repr().
ShortValue thread(const Describing& of) {
    const auto name = str_value(of.heap(), stored_attribute(of.object, "_name"));
    if (!name) return {};
    const auto ident = int_value(of.heap(), stored_attribute(of.object, "_ident"));
    std::string state = "initial";
    if (flag_of(of, stored_attribute(of.object, "_started"), "_flag")) state = "started";
    if (is_true(of.heap(), stored_attribute(of.object, "_is_stopped")) ||
        handle_state(of, static_cast<std::uint64_t>(ident.value_or(0))) == handle_done)
        state = "stopped";
    if (is_true(of.heap(), stored_attribute(of.object, "_daemonic"))) state += " daemon";
    if (ident) state += fmt::format(" {}", *ident);
    const std::string type = short_name(of.object.type().name);
    return {.kind = ShortValue::Kind::summary,
            .text = fmt::format("<{}({}, {})>", type, *name, state),
            .without_values = fmt::format("<{}({})>", type, state)};
}

ShortValue event(const Describing& of) {
    const Address flag = stored_attribute(of.object, "_flag");
    if (flag.is_null()) return {};
    return named_value(is_true(of.heap(), flag) ? "<Event, set>" : "<Event, not set>");
}

ShortValue semaphore(const Describing& of) {
    const auto value = int_value(of.heap(), stored_attribute(of.object, "_value"));
    if (!value) return {};
    return named_value(fmt::format("<{}, value {}>", short_name(of.object.type().name), *value));
}

ShortValue condition(const Describing& of) {
    const Address lock_of_it = stored_attribute(of.object, "_lock");
    if (lock_of_it.is_null()) return {};
    return named_value("<Condition of " + of.values.part(lock_of_it, of.limit, of.depth + 1).text + ">");
}

ShortValue queue(const Describing& of) {
    const auto items = object_at(of.heap(), stored_attribute(of.object, "queue"));
    if (!items) return {};
    const std::int64_t count = std::max<std::int64_t>(items->var_size(), 0);
    const std::int64_t most = int_value(of.heap(), stored_attribute(of.object, "maxsize")).value_or(0);
    return named_value(fmt::format("{} of {}{}", short_name(of.object.type().name), count,
                                   most > 0 ? fmt::format(", at most {}", most) : ""));
}

constexpr ValueRow thread_rows[] = {{"_thread.lock", lock},
                                    {"_thread.RLock", recursive_lock},
                                    {"threading.Thread", thread, false},
                                    {"threading.Event", event, false},
                                    {"threading.Semaphore", semaphore, false},
                                    {"threading.Condition", condition, false},
                                    {"queue.Queue", queue, false}};

}  // namespace

std::span<const ValueRow> thread_values() { return thread_rows; }

}  // namespace heapsift
