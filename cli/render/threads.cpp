// One heading for each thread; below it its calls, the most recent one last as in a Python traceback, each
// with its locals. Native calls stand between them, marked [C], without those of the interpreter's own
// machinery.

#include "cli/render/threads.h"

#include "cli/render/object.h"
#include "cli/render/process.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

constexpr std::size_t level_of_locals = 3;

Datum local_data(const LocalRow& local) {
    return entries({{"name", local.name},
                    {"object", local.object.type.empty() ? Datum() : object_data(local.object)},
                    {"address", local.object.address},
                    {"cell", or_null(local.cell)}});
}

Datum native_data(const NativeCall& call) {
    return entries({{"kind", "native"},
                    {"function", or_null(call.function)},
                    {"file", call.file.empty() ? Datum() : Datum(FilePath{call.file})},
                    {"line", call.line > 0 ? Datum(call.line) : Datum()},
                    {"locals", Datum::list()},
                    {"module", call.module.empty() ? Datum() : Datum(FilePath{call.module})},
                    {"offset", call.offset},
                    {"module_offset", call.module_offset},
                    {"address", call.instruction},
                    {"inlined", call.inlined},
                    {"signal_handler", call.signal_handler},
                    {"machinery", call.machinery}});
}

Datum frame_data(const FrameRow& row) {
    if (row.native) return native_data(*row.native);
    const PythonFrame& frame = row.frame;
    return entries({{"kind", "python"},
                    {"function", frame.name},
                    {"file", FilePath{frame.file}},
                    {"line", frame.line > 0 ? Datum(frame.line) : Datum()},
                    {"locals", Datum::list_of(row.locals, local_data)},
                    {"local_count", row.local_count},
                    {"retained", row.retained},
                    {"frame", frame.frame},
                    {"code", frame.code},
                    {"variables", or_null(frame.variables)}});
}

/// A name that the program chose is redacted as a value.
Text thread_name(const ThreadRow& row) {
    if (row.name_is_given) return GivenName{row.thread.name};
    return row.thread.name;
}

std::string_view end_code(NativeStack::End end) {
    using End = NativeStack::End;
    switch (end) {
        case End::outermost:
            return "outermost";
        case End::no_module:
            return "no-module";
        case End::no_tables:
            return "no-unwind-tables";
        case End::no_rules:
            return "no-unwind-rules";
        case End::unreadable:
            return "unreadable";
        case End::not_growing:
            return "stack-not-growing";
        case End::too_many:
            return "too-many-frames";
    }
    return "";
}

/// Why the list of native calls is not whole.
std::string_view end_words(NativeStack::End end) {
    using End = NativeStack::End;
    switch (end) {
        case End::outermost:
            return "";
        case End::no_module:
            return "Older native calls are not known: the code of the first one below is in no file.";
        case End::no_tables:
            return "Older native calls are not known: the file of the first one below, with its unwind "
                   "tables, is not "
                   "here. heapsift doctor says which files are missing.";
        case End::no_rules:
            return "Older native calls are not known: the unwind tables of the first one below leave it out.";
        case End::unreadable:
            return "Older native calls are not known: their part of the stack is not in this core.";
        case End::not_growing:
            return "Older native calls are not known: the stack is damaged there.";
        case End::too_many:
            return "Older native calls are left out: there are too many.";
    }
    return "";
}

/// A thread that Python does not know has only its number and native calls.
Datum native_thread_data(const ThreadRow& row) {
    return entries({{"tid", row.thread.tid},
                    {"name", Datum()},
                    {"gil", false},
                    {"frames", Datum::list_of(row.frames, frame_data)},
                    {"retained", Datum()},
                    {"ident", Datum()},
                    {"interpreter", Datum()},
                    {"state", Datum()},
                    {"got_signal", row.got_signal},
                    {"native_end", row.native_end ? Datum(end_code(*row.native_end)) : Datum()}});
}

Datum thread_data(const ThreadRow& row) {
    const PythonThread& thread = row.thread;
    if (!row.known) return native_thread_data(row);
    return entries({{"tid", thread.tid},
                    {"name", row.name_is_given ? Datum(GivenName{thread.name}) : Datum(thread.name)},
                    {"gil", thread.gil},
                    {"frames", Datum::list_of(row.frames, frame_data)},
                    {"retained", row.retained},
                    {"ident", Address(thread.thread_id)},
                    {"interpreter", thread.interpreter},
                    {"state", thread.state},
                    {"got_signal", row.got_signal},
                    {"native_end", row.native_end ? Datum(end_code(*row.native_end)) : Datum()}});
}

Datum signal_data(const ThreadsResult& result) {
    if (!result.signal) return {};
    const SignalPlace& place = *result.signal;
    return entries({{"tid", place.tid},
                    {"number", result.process.signal},
                    {"name", signal_name(result.process.signal.value_or(0))},
                    {"code", result.process.signal_code},
                    {"fault_address", result.process.fault_address},
                    {"address", place.instruction},
                    {"module", place.module.empty() ? Datum() : Datum(FilePath{place.module})},
                    {"function", or_null(place.function)},
                    {"offset", place.module.empty() ? Datum() : Datum(place.offset)},
                    {"stack_is_full", place.stack_is_full}});
}

/// "MainThread", or whatever else tells the thread from the others.
Text heading(const ThreadRow& row) {
    const PythonThread& thread = row.thread;
    Text text = (!row.known            ? Text("thread that Python does not know")
                 : thread.name.empty() ? Text("thread without a name in Python")
                                       : thread_name(row))
                    .bold();
    if (thread.tid) text += fmt::format(", tid {}", *thread.tid);
    if (thread.interpreter != 0) text += fmt::format(", interpreter {}", thread.interpreter);
    if (thread.gil) text += ", has the GIL";
    if (row.got_signal) text += ", got the signal";
    if (row.retained) text += says(", retains {}{}", about(), ByteCount{*row.retained});
    return text;
}

/// "300 threads stand here, retain 90.0 MiB together; locals and sizes of Thread-7 (worker), tid 412:". Its locals stand
/// for those of the others.
Text heading(const ThreadsResult& result, const AlikeThreads& alike) {
    const ThreadRow& row = result.threads[alike.rows.front()];
    Text text = how_many(alike.rows.size(), "thread stands here", "threads stand here").bold();
    if (alike.retained.value_or(0) > 0)
        text += says(", retain {}{} together", about(), ByteCount{*alike.retained});
    if (!row.known) return text;
    text += "; locals and sizes of ";
    text += row.thread.name.empty() ? Text("one without a name in Python") : thread_name(row);
    if (row.thread.tid) text += fmt::format(", tid {}", *row.thread.tid);
    if (row.retained.value_or(0) > 0) text += says(", retains {}{}", about(), ByteCount{*row.retained});
    return text;
}

/// "the others: Thread-2 (worker), tid 413; …; and 290 more".
Text names_of(const ThreadsResult& result, const AlikeThreads& alike) {
    constexpr std::size_t most_names = 8;
    std::vector<Text> names;
    for (std::size_t i = 1; i < alike.rows.size() && names.size() < most_names; ++i) {
        const ThreadRow& row = result.threads[alike.rows[i]];
        Text name = row.known && !row.thread.name.empty() ? thread_name(row) : Text("tid");
        if (row.thread.tid) name += fmt::format(" {}", *row.thread.tid);
        names.push_back(std::move(name));
    }
    Text text = "the others: " + joined(std::move(names), ", ");
    if (const std::size_t more = alike.rows.size() - 1; more > most_names)
        text += says(", and {} more: --json has each with its locals", Count{more - most_names});
    return std::move(text).faint();
}

/// "func(), app.py, line 12".
Text call_words(const FrameRow& row) {
    const PythonFrame& frame = row.frame;
    Text text = Text(row.called).bold() + says(", {}", std::string(base_name(frame.file)));
    if (frame.line > 0) text += fmt::format(", line {}", frame.line);
    if (row.retained.value_or(0) > 0) text += says(", retains {}{}", about(), ByteCount{*row.retained});
    return text;
}

/// "[C] poll+0x4f, libc.so.6", "[C] time_sleep, timemodule.c, line 1400".
Text native_words(const NativeCall& call) {
    if (call.signal_handler) return Text("[C] a signal arrived; its handler:").faint();
    const std::string module(base_name(call.module));
    Text text("[C] ");
    if (!call.function.empty()) {
        text += Text(call.function).giving_way();
        if (call.file.empty() && call.offset) text += fmt::format("+{:#x}", *call.offset);
    } else if (call.module_offset) {
        return std::move(text) + says("{}+{}", module, fmt::format("{:#x}", *call.module_offset)) +
               ", a function without a name";
    } else {
        return std::move(text) + says("{}, in no file", call.instruction);
    }
    if (call.file.empty()) {
        text += says(", {}", module);
    } else {
        text += says(", {}", std::string(base_name(call.file)));
        if (call.line > 0) text += fmt::format(", line {}", call.line);
    }
    if (call.inlined) text += " (inlined)";
    if (call.runs_unknown)
        text += ", runs Python calls of which the thread does not know (another greenlet's?)";
    return text;
}

void say_locals(const FrameRow& row, Document& document) {
    using Fit = TextColumn::Fit;
    const bool retained = row.retained.has_value();
    TableBlock table;
    table.level = level_of_locals;
    table.columns = {left("", Fit::middle), left("")};
    if (retained) table.columns.push_back(right(""));
    table.columns.push_back(left("", Fit::middle));
    table.columns.push_back(left("", Fit::end));
    std::vector<TableRow> rows;
    for (const LocalRow& local : row.locals) {
        TableRow cells{.cells = {local.name, local.object.address}};
        if (retained) cells.cells.push_back(bytes_or_blank(local.object.retained));
        cells.cells.push_back(local.object.type.empty() ? Text("no object was found there")
                                                        : Text(TypeName{local.object.type}));
        cells.cells.emplace_back(value_of(local.object));
        rows.push_back(std::move(cells));
    }
    table.rows = rows_of(std::move(rows));
    document.say({std::move(table)});
    if (const std::uint64_t more = row.local_count - row.locals.size(); more > 0)
        document.say(line(says("… {} more: add", Count{more}) + all_rows, level_of_locals));
    if (row.variables_of_module)
        document.say(
            line(says("variables: those of the module, {}", row.frame.variables).faint(), level_of_locals));
}

void say_frames(const std::vector<FrameRow>& frames, Document& document) {
    for (auto row = frames.rbegin(); row != frames.rend(); ++row) {
        if (row->in_run || (row->native && row->native->machinery)) continue;
        if (row->run_before > 0) {
            const Text more = how_many(row->run_before, "more call", "more calls");
            document.say(line(row->run_period == 1
                                  ? says("… {} at the same line …", more)
                                  : says("… {}: these {} again and again …", more, Count{row->run_period}),
                              1));
        }
        document.say(line(row->native ? native_words(*row->native) : call_words(*row), 1));
        if (!row->native) say_locals(*row, document);
    }
}

constexpr std::size_t most_rows_of_greenlets = 5, most_calls_of_greenlet = 4;

Datum greenlets_data(const WaitingGreenlets& row) {
    return entries({{"count", row.count},
                    {"retained", row.retained},
                    {"example", row.example},
                    {"frames", Datum::list_of(row.frames, frame_data)}});
}

/// "poll(), app.py, line 12, called by main(), app.py, line 40": the innermost calls.
Text greenlet_calls(const WaitingGreenlets& row) {
    Text text;
    for (std::size_t i = 0; i < row.frames.size() && i < most_calls_of_greenlet; ++i) {
        if (i > 0) text += ", called by ";
        text += call_words(row.frames[i]);
    }
    if (row.frames.size() > most_calls_of_greenlet)
        text += says(", and {} more", Count{row.frames.size() - most_calls_of_greenlet});
    return text;
}

void say_greenlets(const ThreadsResult& result, Document& document) {
    if (result.greenlets.empty()) return;
    const WaitingGreenlets& most = result.greenlets.front();
    document.say(sentence(how_many(result.greenlet_count, "greenlet waits", "greenlets wait") +
                          ", besides what runs above; the most recent call comes first"));
    for (std::size_t i = 0; i < result.greenlets.size() && i < most_rows_of_greenlets; ++i) {
        const WaitingGreenlets& row = result.greenlets[i];
        Text text = says("{} in ", Count{row.count}) + greenlet_calls(row);
        if (row.retained) text += says(", retaining {}{}", about(), ByteCount{*row.retained});
        document.say(sentence(std::move(text), {}, 1));
    }
    if (result.greenlets.size() > most_rows_of_greenlets)
        document.say(line(
            says("… {} more places: --json has all", Count{result.greenlets.size() - most_rows_of_greenlets}),
            1));
    document.say(hint(says("show {}", most.example), "what one of them holds"));
}

Datum tasks_data(const std::shared_ptr<const TasksOfThreads>& tasks, std::size_t thread) {
    return Datum::Stream([tasks, thread](const std::function<void(const Datum&)>& visit) {
        for (const std::uint32_t number : tasks->rows[thread]) {
            const TaskRow& row = tasks->tasks.rows[number];
            visit(task_data(tasks->tasks, row, tasks->read(row)));
        }
    });
}

std::size_t python_threads_of(const ThreadsResult& result) {
    return static_cast<std::size_t>(std::count_if(result.threads.begin(), result.threads.end(),
                                                  [](const ThreadRow& row) { return row.known; }));
}

/// "Thread 71 got SIGSEGV (11): address not mapped at 0x0, in strlen+0x1d (libc.so.6)."
Text signal_sentence(const ThreadsResult& result) {
    const SignalPlace& place = *result.signal;
    Text text = says("Thread {} got {}{}, ", fmt::format("{}", place.tid), signal_words(result.process),
                     place.stack_is_full ? " (its stack is full: too many calls)" : "");
    const std::string offset = fmt::format("+{:#x}", place.offset), module(base_name(place.module));
    if (place.module.empty()) return text + says("executing {}, where there is no code.", place.instruction);
    if (place.function.empty()) return text + says("in {}{}.", module, offset);
    return text + says("in {}{} ({}).", Text(place.function).bold(), offset, module);
}

Text summary(const ThreadsResult& result) {
    Text text = how_many(python_threads_of(result), "Python thread") + ", most recent call last.";
    if (!result.any_has_gil) text += " None held the GIL: all were waiting or in C code.";
    return text;
}

void say_threads(const ThreadsResult& result, const TasksOfThreads* tasks, Document& document) {
    if (result.signal) document.say(sentence(signal_sentence(result)));
    if (result.threads.empty()) return document.say(line("This core has no Python thread."));
    document.say(sentence(summary(result)));
    if (result.native && result.machinery > 0)
        document.say(
            sentence(says("[C]: native calls, without {} that only show how the interpreter makes calls; "
                          "--json has all",
                          Count{result.machinery})));
    if (result.threads.front().retained)
        document.say(sentence("sizes: what would be freed without that thread, call or variable"));
    for (const AlikeThreads& alike : result.alike) {
        const ThreadRow& row = result.threads[alike.rows.front()];
        document.say(gap());
        document.say(line(alike.rows.size() > 1 ? heading(result, alike) : heading(row)));
        if (row.frames.empty()) document.say(line("It runs no Python function.", 1));
        if (row.native_end && *row.native_end != NativeStack::End::outermost)
            document.say(sentence(Text(std::string(end_words(*row.native_end))).faint(), {}, 1));
        say_frames(row.frames, document);
        if (alike.rows.size() > 1) document.say(line(names_of(result, alike), 1));
        if (tasks)
            for (const std::size_t number : alike.rows)
                say_tasks_of_thread(tasks->tasks, tasks->rows[number], document);
    }
    document.say(gap());
    say_greenlets(result, document);
    if (!result.native_threads.empty() && !result.native)
        document.say(sentence(says("{} never ran Python code (tid {})",
                                   how_many(result.native_threads.size(), "more thread"),
                                   fmt::format("{}", fmt::join(result.native_threads, ", ")))));
    if (result.largest)
        document.say(hint(
            says("show {}", result.largest->local.object.address),
            says("the largest of them: {} of {}", result.largest->local.name, result.largest->function)));
}

}  // namespace

Document render_threads(ThreadsResult threads, std::shared_ptr<const TasksOfThreads> tasks) {
    const auto result = kept(std::move(threads));
    Document document{.command = "threads"};
    document.rows_key = "threads";
    document.rows = [result, tasks](const std::function<void(const Datum&)>& visit) {
        for (std::size_t i = 0; i < result->threads.size(); ++i) {
            Datum thread = thread_data(result->threads[i]);
            if (tasks) thread["tasks"] = tasks_data(tasks, i);
            visit(thread);
        }
    };
    document.data["native_threads"] =
        Datum::list_of(result->native_threads, [](std::int32_t tid) { return Datum(tid); });
    document.data["greenlets"] = Datum::list_of(result->greenlets, greenlets_data);
    document.data["greenlet_count"] = result->greenlet_count;
    document.data["signal"] = signal_data(*result);
    document.data["total"] = result->threads.size();
    say_threads(*result, tasks.get(), document);
    return document;
}

}  // namespace heapsift
