// One heading for each thread; below it its calls, the most recent one last as in a Python traceback, each
// with its locals.

#include "cli/render/threads.h"

#include "cli/render/object.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

constexpr std::size_t level_of_locals = 3;

Datum local_data(const LocalRow& local) {
    return entries({{"name", local.name},
                    {"object", local.object.type.empty() ? Datum() : object_data(local.object)},
                    {"address", local.object.address},
                    {"cell", or_null(local.cell)}});
}

Datum frame_data(const FrameRow& row) {
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

Datum thread_data(const ThreadRow& row) {
    const PythonThread& thread = row.thread;
    return entries({{"tid", thread.tid},
                    {"name", row.name_is_given ? Datum(GivenName{thread.name}) : Datum(thread.name)},
                    {"gil", thread.gil},
                    {"frames", Datum::list_of(row.frames, frame_data)},
                    {"retained", row.retained},
                    {"ident", Address(thread.thread_id)},
                    {"interpreter", thread.interpreter},
                    {"state", thread.state}});
}

/// "MainThread", or whatever else tells the thread from the others.
Text heading(const ThreadRow& row) {
    const PythonThread& thread = row.thread;
    Text text = (thread.name.empty() ? Text("thread without a name in Python") : thread_name(row)).bold();
    if (thread.tid) text += fmt::format(", tid {}", *thread.tid);
    if (thread.interpreter != 0) text += fmt::format(", interpreter {}", thread.interpreter);
    if (thread.gil) text += ", has the GIL";
    if (row.retained) text += says(", retains {}{}", about(), ByteCount{*row.retained});
    return text;
}

/// "func(), app.py, line 12".
Text call_words(const FrameRow& row) {
    const PythonFrame& frame = row.frame;
    Text text = Text(row.called).bold() + says(", {}", std::string(base_name(frame.file)));
    if (frame.line > 0) text += fmt::format(", line {}", frame.line);
    if (row.retained.value_or(0) > 0) text += says(", retains {}{}", about(), ByteCount{*row.retained});
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
            line(says("its variables are the module's: {}", row.frame.variables).faint(), level_of_locals));
}

void say_frames(const std::vector<FrameRow>& frames, Document& document) {
    for (auto row = frames.rbegin(); row != frames.rend(); ++row) {
        if (row->in_run) continue;
        if (row->run_before > 0)
            document.say(line(
                says("… {} at the same line …", how_many(row->run_before, "more call", "more calls")), 1));
        document.say(line(call_words(*row), 1));
        say_locals(*row, document);
    }
}

Text summary(const ThreadsResult& result) {
    Text text = how_many(result.threads.size(), "thread") + " of Python; the most recent call is the last";
    if (!result.any_has_gil)
        text += "; none had the GIL (the interpreter's lock): all waited or were in C code";
    return text;
}

void say_threads(const ThreadsResult& result, Document& document) {
    if (result.threads.empty()) return document.say(line("No thread of Python was found in this core."));
    document.say(sentence(summary(result)));
    if (result.threads.front().retained)
        document.say(sentence(
            "bytes are what a thread, a call or a variable retains: what would come free without it"));
    for (const ThreadRow& row : result.threads) {
        document.say(gap());
        document.say(line(heading(row)));
        if (row.frames.empty()) document.say(line("It runs no Python function.", 1));
        say_frames(row.frames, document);
    }
    document.say(gap());
    if (!result.native_threads.empty())
        document.say(sentence(says("{} more, of which Python knows nothing: tid {}",
                                   how_many(result.native_threads.size(), "thread"),
                                   fmt::format("{}", fmt::join(result.native_threads, ", ")))));
    if (result.largest)
        document.say(hint(
            says("show {}", result.largest->local.object.address),
            says("the largest of them: {} of {}", result.largest->local.name, result.largest->function)));
}

}  // namespace

Document render_threads(ThreadsResult threads) {
    const auto result = kept(std::move(threads));
    Document document{.command = "threads"};
    document.rows_key = "threads";
    document.rows = rows_of<Datum>(result, &ThreadsResult::threads, thread_data);
    document.data["native_threads"] =
        Datum::list_of(result->native_threads, [](std::int32_t tid) { return Datum(tid); });
    document.data["total"] = result->threads.size();
    say_threads(*result, document);
    return document;
}

}  // namespace heapsift
