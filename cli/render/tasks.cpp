// What is suspended, in groups: what stands at one line and waits for one sort of thing is one row. A sentence says
// what most of them are. What never finishes is said in words, since that is the news.

#include "cli/render/tasks.h"

#include "cli/render/object.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

/// How a wait is called: for programs, for people, and for people if what it waits for never comes.
struct WaitWords {
    const char* code;
    const char* words;
    const char* never;
};

WaitWords words_of_wait(Awaits awaits) {
    switch (awaits) {
        case Awaits::unknown:
            return {"unknown", "something that is not known",
                    "something that nothing which still runs can reach"};
        case Awaits::running:
            return {"running", "nothing: it runs", ""};
        case Awaits::ready:
            return {"ready", "its turn", ""};
        case Awaits::not_started:
            return {"not-started", "its first turn", ""};
        case Awaits::caller:
            return {"caller", "whoever takes its next value", ""};
        case Awaits::task:
            return {"task", "a task", "a task that never finishes"};
        case Awaits::tasks:
            return {"tasks", "several tasks", "tasks that never finish"};
        case Awaits::future:
            return {"future", "a future", "a future that nothing which still runs can reach"};
        case Awaits::queue_get:
            return {"queue-get", "an item of a queue", "a queue that nobody puts into"};
        case Awaits::queue_put:
            return {"queue-put", "room in a queue", "a queue that nobody takes from"};
        case Awaits::queue_join:
            return {"queue-join", "a queue to be worked off", "a queue that nobody works off"};
        case Awaits::lock:
            return {"lock", "a lock", "a lock that nobody releases"};
        case Awaits::event:
            return {"event", "an event", "an event that nobody sets"};
        case Awaits::condition:
            return {"condition", "a condition", "a condition that nobody notifies"};
        case Awaits::semaphore:
            return {"semaphore", "a semaphore", "a semaphore that nobody releases"};
        case Awaits::barrier:
            return {"barrier", "a barrier", "a barrier that nobody else comes to"};
        case Awaits::sleep:
            return {"sleep", "a time (sleep)", "a time (sleep), but its timer is gone"};
        case Awaits::thread:
            return {"thread", "a function in a thread", "a function in a thread that is gone"};
        case Awaits::socket:
            return {"socket", "a socket", "a socket that nobody watches"};
        case Awaits::stream_read:
            return {"stream-read", "data of a stream", "data of a stream that nobody feeds"};
        case Awaits::stream_write:
            return {"stream-write", "room to write to a stream", "room in a stream that nobody empties"};
        case Awaits::server:
            return {"server", "the end of a server", "the end of a server that nobody closes"};
        case Awaits::process:
            return {"process", "the end of a process", "the end of a process that nobody watches"};
        case Awaits::switched:
            return {"switch", "a switch to it", ""};
        case Awaits::object:
            return {"object", "another object", "an object that nothing which still runs can reach"};
    }
    return {"", "", ""};
}

bool is_waiting(Awaits awaits) { return awaits != Awaits::running; }

const char* code_of_kind(TaskKind kind) {
    switch (kind) {
        case TaskKind::task:
            return "task";
        case TaskKind::greenlet:
            return "greenlet";
        case TaskKind::coroutine:
            return "coroutine";
        case TaskKind::async_generator:
            return "async_generator";
        case TaskKind::generator:
            return "generator";
    }
    return "";
}

Text how_many_of_kind(TaskKind kind, std::uint64_t count) {
    switch (kind) {
        case TaskKind::task:
            return how_many(count, "task");
        case TaskKind::greenlet:
            return how_many(count, "greenlet");
        case TaskKind::coroutine:
            return how_many(count, "coroutine");
        case TaskKind::async_generator:
            return how_many(count, "asynchronous generator");
        case TaskKind::generator:
            return how_many(count, "generator");
    }
    return {};
}

/// "4,012 tasks, 3 greenlets and 17 generators".
Text all_of_them(const TasksResult& result) {
    std::vector<Text> parts;
    for (std::size_t kind = 0; kind < task_kind_count; ++kind)
        if (result.counts[kind] > 0)
            parts.push_back(how_many_of_kind(static_cast<TaskKind>(kind), result.counts[kind]));
    Text last = std::move(parts.back());
    parts.pop_back();
    if (parts.empty()) return last;
    return joined(std::move(parts), ", ") + " and " + std::move(last);
}

std::string called_by_name(const std::string& name) {
    return name.empty() || name.back() == '>' ? name : name + "()";
}

Text file_and_line(const TaskPlace& place) {
    if (place.file.empty()) return "?";
    std::string words(base_name(place.file));
    if (place.line > 0) words += fmt::format(":{}", place.line);
    return words;
}

/// Of the tasks, or else of whatever there is, a group that is most of them: the news of the first sentence.
const TaskGroup* group_of_most(const TasksResult& result) {
    const TaskKind kind = result.counts[0] > 0 ? TaskKind::task : result.groups.front().kind;
    const TaskGroup* most = nullptr;
    for (const TaskGroup& group : result.groups)
        if (group.kind == kind && (!most || group.count > most->count)) most = &group;
    if (!most || (most->count < 2 && result.rows.size() > 1) ||
        2 * most->count < result.counts[static_cast<std::size_t>(kind)])
        return nullptr;
    return most;
}

Text first_sentence(const TasksResult& result) {
    Text text = at_least() + all_of_them(result);
    const TaskGroup* most = group_of_most(result);
    if (!most) {
        if (result.never == 0) return text + " are suspended.";
        return text + says(". {} of them never {}: nothing that still runs can reach what they wait for.",
                           Count{result.never}, result.never == 1 ? "finishes" : "finish");
    }
    const bool all = result.rows.size() == most->count;
    if (result.rows.size() == 1)
        text += ": ";
    else
        text += all ? Text(": all of them are ") : says(": {} of them are ", Count{most->count});
    text += task_place_words(result.places[most->place]);
    text += is_waiting(most->awaits) ? says(", waiting for {}", waits_for_words(most->awaits, most->finishes))
                                     : Text(", running");
    if (most->finishes == false) {
        text += result.rows.size() == 1 ? ": it never finishes." : ": they never finish.";
        if (result.never > most->count) text += says(" Nor do {} more.", Count{result.never - most->count});
        return text;
    }
    text += ".";
    if (result.never > 0)
        text += says(" {} of them never {}: nothing that still runs can reach what they wait for.",
                     Count{result.never}, result.never == 1 ? "finishes" : "finish");
    return text;
}

/// Where the innermost call of the program is, and which that is unless it is the coroutine itself.
Text innermost(const TaskPlace& place) {
    Text text = file_and_line(place);
    if (!place.outermost && !place.function.empty()) text += " in " + called_by_name(place.function);
    return text;
}

TableBlock groups_table(const TasksResult& result, std::size_t limit) {
    using Fit = TextColumn::Fit;
    TableBlock table;
    table.columns = {right("count"),
                     right(about() + "retained", true),
                     left("coroutine", Fit::middle),
                     left("stands at", Fit::middle),
                     left("waits for", Fit::end),
                     left("finishes"),
                     left("an example")};
    table.columns[5].optional = true;
    std::vector<TableRow> rows;
    for (const TaskGroup& group : result.groups) {
        if (limit > 0 && rows.size() == limit) break;
        const TaskPlace& place = result.places[group.place];
        rows.push_back(
            {.cells = cells_of(Count{group.count}, ByteCount{group.retained}, called_by_name(place.coroutine),
                               innermost(place), waits_for_words(group.awaits, group.finishes),
                               group.finishes == false ? Text("never").bold() : Text(), group.example),
             .bytes = group.retained});
    }
    const bool cut = rows.size() < result.groups.size();
    table.rows = rows_of(std::move(rows));
    if (cut) table.rest = TableRest{result.groups.size(), "more place", {}, std::string("add") + all_rows};
    return table;
}

/// "until 5021.3".
Text until_words(const TaskRow& row) {
    return row.until ? Text(fmt::format("until {:.1f}", *row.until)) : Text();
}

TableRow single_row(const TasksResult& result, const TaskRow& row, const TaskToShow& task) {
    const TaskPlace& place = result.places[row.place];
    Text waits = waits_for_words(row.awaits, row.finishes);
    if (row.until) waits += ", " + until_words(row);
    return {.cells = cells_of(task.details.object.address, ByteCount{row.retained},
                              called_by_name(place.coroutine), innermost(place), std::move(waits),
                              task.details.waits_for ? Text(task.details.waits_for->address) : Text(),
                              row.finishes == false ? Text("never").bold() : Text(),
                              Text(expression_of(task.expression))),
            .bytes = row.retained};
}

std::vector<TextColumn> single_columns(bool tree) {
    using Fit = TextColumn::Fit;
    std::vector<TextColumn> columns = {left("address"),
                                       right(about() + "retained", !tree),
                                       left("coroutine", Fit::middle),
                                       left("stands at", Fit::middle),
                                       left("waits for", Fit::end),
                                       left("which is"),
                                       left("finishes"),
                                       left("held as", Fit::end)};
    for (const std::size_t optional : {5U, 6U, 7U}) columns[optional].optional = true;
    columns[0].tree = tree;
    return columns;
}

void say_legend(const TasksResult& result, Document& document) {
    if (result.never > 0)
        document.say(sentence(Text("never: no running call, callback of the loop, module or other task that "
                                   "goes on leads to what "
                                   "it waits for")
                                  .faint()));
    if (result.ended > 0)
        document.say(sentence(says("{} {} done, and still in memory.", how_many(result.ended, "more task"),
                                   result.ended == 1 ? "is" : "are")));
}

void say_groups(const TasksResult& result, std::size_t limit, Document& document) {
    document.say({groups_table(result, limit)});
    say_legend(result, document);
    document.say(
        hint(says("tasks {}", result.groups.front().example), "the calls of one, and what it waits for"));
    document.say(hint("tasks --list", "each by itself"));
}

Datum call_data(const AwaitedCall& call) {
    return entries({{"object", or_null(call.object)},
                    {"function", call.frame.name},
                    {"file", FilePath{call.frame.file}},
                    {"line", call.frame.line > 0 ? Datum(call.frame.line) : Datum()}});
}

Datum addresses_of(const std::vector<ObjectRow>& rows) {
    return Datum::list_of(rows, [](const ObjectRow& row) { return Datum(row.address); });
}

Datum totals(const TasksResult& result) {
    Datum total = entries({{"count", result.rows.size()}, {"never", result.never}, {"done", result.ended}});
    for (std::size_t kind = 0; kind < task_kind_count; ++kind)
        total[code_of_kind(static_cast<TaskKind>(kind))] = result.counts[kind];
    return total;
}

Text call_line(const AwaitedCall& call) {
    Text text =
        Text(called_by_name(call.frame.name)).bold() + says(", {}", std::string(base_name(call.frame.file)));
    if (call.frame.line > 0) text += fmt::format(", line {}", call.frame.line);
    return text;
}

/// The calls of one, outermost first, and what the innermost waits for.
void say_calls(const TaskRow& row, const TaskToShow& task, Document& document) {
    for (std::size_t i = 0; i < task.details.calls.size(); ++i)
        document.say(line(call_line(task.details.calls[i]), 1 + std::min<std::size_t>(i, 20)));
    Text text = says("waits for {}", waits_for_words(row.awaits, row.finishes));
    if (row.until) text += ", " + until_words(row) + " by the loop's clock";
    if (task.details.waits_for)
        text += says(": {} {}", typed_value(*task.details.waits_for), task.details.waits_for->address);
    document.say(sentence(std::move(text), {}, 1));
    if (row.finishes == false) document.say(sentence(Text("It never finishes.").bold(), {}, 1));
    if (task.details.awaited_by_count == 0) return;
    std::vector<Text> by;
    for (const ObjectRow& one : task.details.awaited_by) by.emplace_back(one.address);
    Text who = "awaited by " + joined(std::move(by), ", ");
    if (task.details.awaited_by_count > task.details.awaited_by.size())
        who += says(" and {} more", Count{task.details.awaited_by_count - task.details.awaited_by.size()});
    document.say(sentence(std::move(who), {}, 1));
}

Document empty_tasks(const TasksResult& result) {
    Document document{.command = "tasks"};
    document.rows_key = "tasks";
    document.rows = rows_of(std::vector<Datum>());
    document.csv_columns = {"address", "kind",     "coroutine", "file",      "line",
                            "awaits",  "finishes", "retained",  "expression"};
    document.data["groups"] =
        Datum::list_of(result.groups, [&](const TaskGroup& group) { return task_group_data(result, group); });
    document.data["total"] = totals(result);
    return document;
}

}  // namespace

Text task_place_words(const TaskPlace& place) {
    Text text(called_by_name(place.coroutine));
    if (!place.file.empty()) text += " at " + innermost(place);
    return text;
}

Text waits_for_words(Awaits awaits, const std::optional<bool>& finishes) {
    const WaitWords words = words_of_wait(awaits);
    return finishes == false ? words.never : words.words;
}

Datum task_group_data(const TasksResult& result, const TaskGroup& group) {
    const TaskPlace& place = result.places[group.place];
    return entries({{"kind", code_of_kind(group.kind)},
                    {"coroutine", place.coroutine},
                    {"function", place.function},
                    {"file", FilePath{place.file}},
                    {"line", place.line > 0 ? Datum(place.line) : Datum()},
                    {"awaits", words_of_wait(group.awaits).code},
                    {"finishes", group.finishes},
                    {"count", group.count},
                    {"retained", group.retained},
                    {"example", group.example}});
}

Datum task_data(const TasksResult& result, const TaskRow& row, const TaskToShow& task) {
    const TaskPlace& place = result.places[row.place];
    const TaskDetails& details = task.details;
    return entries({{"object", object_data(details.object)},
                    {"kind", code_of_kind(row.kind)},
                    {"coroutine", place.coroutine},
                    {"file", place.file.empty() ? Datum() : Datum(FilePath{place.file})},
                    {"line", place.line > 0 ? Datum(place.line) : Datum()},
                    {"waits_for", details.waits_for ? object_data(*details.waits_for) : Datum()},
                    {"finishes", row.finishes},
                    {"retained", row.retained},
                    {"expression", expression_of(task.expression)},
                    {"name", details.name.empty() ? Datum() : Datum(GivenName{details.name})},
                    {"function", place.function},
                    {"awaits", words_of_wait(row.awaits).code},
                    {"until", row.until},
                    {"future", or_null(details.future)},
                    {"address", row.address},
                    {"calls", Datum::list_of(details.calls, call_data)},
                    {"waits_on", addresses_of(details.waits_on)},
                    {"waits_on_count", details.waits_on_count},
                    {"awaited_by", addresses_of(details.awaited_by)},
                    {"awaited_by_count", details.awaited_by_count}});
}

Document render_tasks(TasksResult tasks, ReadTask read, bool single, std::size_t limit) {
    const auto result = kept(std::move(tasks));
    Document document = empty_tasks(*result);
    const auto each = [result, limit](const std::function<void(const TaskRow&)>& visit) {
        const std::size_t count = limit > 0 ? std::min(limit, result->rows.size()) : result->rows.size();
        for (std::size_t i = 0; i < count; ++i) visit(result->rows[i]);
    };
    document.rows = [result, read, each](const std::function<void(const Datum&)>& visit) {
        each([&](const TaskRow& row) { visit(task_data(*result, row, read(row))); });
    };
    if (result->rows.empty()) {
        document.say(sentence("No task, greenlet, coroutine or generator is suspended in this core."));
        say_legend(*result, document);
        return document;
    }
    document.say(sentence(first_sentence(*result)));
    if (!single) {
        say_groups(*result, limit, document);
        return document;
    }
    TableBlock table;
    table.columns = single_columns(false);
    table.rows = [result, read, each](const std::function<void(const TableRow&)>& visit) {
        each([&](const TaskRow& row) { visit(single_row(*result, row, read(row))); });
    };
    if (limit > 0 && limit < result->rows.size())
        table.rest = TableRest{result->rows.size(), {}, {}, std::string("add") + all_rows};
    document.say({std::move(table)});
    say_legend(*result, document);
    document.say(hint(says("tasks {}", read(result->rows.front()).details.object.address),
                      "the calls of one, and what it waits for"));
    return document;
}

void say_tasks_of_thread(const TasksResult& result, const std::vector<std::uint32_t>& rows,
                         Document& document) {
    constexpr std::size_t most_groups = 5;
    if (rows.empty()) return;
    const std::vector<TaskGroup> groups = groups_of(result, rows);
    document.say(line(says("Its event loop has {}:",
                           how_many(rows.size(), "task that is not done", "tasks that are not done")),
                      1));
    for (std::size_t i = 0; i < groups.size() && i < most_groups; ++i) {
        const TaskGroup& group = groups[i];
        Text text = Text(Count{group.count}) + " " + task_place_words(result.places[group.place]);
        text += is_waiting(group.awaits)
                    ? says(", waiting for {}", waits_for_words(group.awaits, group.finishes))
                    : Text(", running");
        if (group.finishes == false) text += ": never";
        document.say(sentence(std::move(text), {}, 2));
    }
    if (groups.size() > most_groups)
        document.say(
            line(says("… {} more places: ", Count{groups.size() - most_groups}) + CommandLine{"tasks"}, 2));
}

Document render_task_tree(TasksResult tasks, ReadTask read, std::vector<TaskNode> nodes) {
    const auto result = kept(std::move(tasks));
    Document document = empty_tasks(*result);
    const TaskRow asked = nodes.front().row;
    const TaskToShow first = read(asked);
    document.rows = [result, read, asked](const std::function<void(const Datum&)>& visit) {
        visit(task_data(*result, asked, read(asked)));
    };
    document.data["tree"] = Datum::list_of(nodes, [&](const TaskNode& node) {
        const TaskPlace& place = result->places[node.row.place];
        return entries({{"object", read(node.row).details.object.address},
                        {"depth", node.depth},
                        {"coroutine", place.coroutine},
                        {"awaits", words_of_wait(node.row.awaits).code},
                        {"finishes", node.row.finishes},
                        {"again", node.again}});
    });
    document.say(line(typed_value(first.details.object)));
    say_calls(asked, first, document);
    if (nodes.size() > 1) {
        TableBlock table;
        table.columns = single_columns(true);
        std::vector<TableRow> rows;
        for (const TaskNode& node : nodes) {
            rows.push_back(single_row(*result, node.row, read(node.row)));
            rows.back().depth = node.depth;
        }
        table.rows = rows_of(std::move(rows));
        document.say(sentence("What it waits for:"));
        document.say({std::move(table)});
    }
    document.say(hint(says("show {}", first.details.object.address), "its fields, and who refers to it"));
    document.say(hint(says("why {}", first.details.object.address), "what keeps it alive"));
    return document;
}

}  // namespace heapsift
