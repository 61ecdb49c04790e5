// A heading for each thread, below it its calls as a Python traceback has them, the most recent one last,
// each with its locals.

#include "cli/render/threads.h"

#include "cli/render/object.h"
#include "cli/table.h"
#include "cli/terminal.h"
#include "cli/text_width.h"
#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace heapsift {
namespace {

// calls of one function at one line, one from the other: so many are written out
constexpr std::size_t shown_of_a_run = 3;

Json local_json(const LocalRow& local, Redactor& redactor) {
    Json json;
    json["name"] = local.name;
    json["object"] = local.object.type.empty() ? Json(nullptr) : object_json(local.object, redactor);
    json["address"] = address_json(local.object.address);
    json["cell"] = local.cell.is_null() ? Json(nullptr) : address_json(local.cell);
    return json;
}

Json frame_json(const FrameRow& row, Redactor& redactor) {
    const PythonFrame& frame = row.frame;
    Json json;
    json["kind"] = "python";
    json["function"] = frame.name;
    json["file"] = redactor.path(frame.file);
    json["line"] = frame.line > 0 ? Json(frame.line) : Json(nullptr);
    json["locals"] = Json::array();
    for (const LocalRow& local : row.locals) json["locals"].push_back(local_json(local, redactor));
    json["local_count"] = row.local_count;
    json["retained"] = or_null(row.retained);
    json["frame"] = address_json(frame.frame);
    json["code"] = address_json(frame.code);
    json["variables"] = frame.variables.is_null() ? Json(nullptr) : address_json(frame.variables);
    return json;
}

/// A name that the program gave is a value of it.
std::string thread_name(const PythonThread& thread, Redactor& redactor) {
    if (!redactor.active() || thread.name.empty() || thread.name == "MainThread") return thread.name;
    return redactor.value({ShortValue::Kind::literal, thread.name, thread.name.size()}, "str");
}

Json thread_json(const ThreadRow& row, Redactor& redactor) {
    const PythonThread& thread = row.thread;
    Json json;
    json["tid"] = or_null(thread.tid);
    json["name"] = thread_name(thread, redactor);
    json["gil"] = thread.gil;
    json["frames"] = Json::array();
    for (const FrameRow& frame : row.frames) json["frames"].push_back(frame_json(frame, redactor));
    json["retained"] = or_null(row.retained);
    json["ident"] = address_json(Address(thread.thread_id));
    json["interpreter"] = thread.interpreter;
    json["state"] = address_json(thread.state);
    return json;
}

/// "MainThread", or what else tells it from the others.
std::string heading(const ThreadRow& row, const Page& page) {
    const PythonThread& thread = row.thread;
    std::string name = thread.name.empty() ? "thread without a name in Python"
                                           : escape_for_terminal(thread_name(thread, page.redact()));
    std::string more;
    if (thread.tid) more += fmt::format(", tid {}", *thread.tid);
    if (thread.interpreter != 0) more += fmt::format(", interpreter {}", thread.interpreter);
    if (thread.gil) more += ", has the GIL";
    if (row.retained) more += ", retains " + page.about(page.bytes(*row.retained));
    return bold(name, page.colour) + more + "\n";
}

/// "func()", "<module>".
std::string function_text(const PythonFrame& frame) {
    const std::string name = escape_for_terminal(frame.name);
    return name.ends_with('>') ? name : name + "()";
}

std::string place_text(const PythonFrame& frame) {
    const std::string file = escape_for_terminal(base_name(frame.file));
    return frame.line > 0 ? fmt::format("{}, line {}", file, frame.line) : file;
}

std::string locals_text(const FrameRow& row, const Page& page) {
    using Align = TableColumn::Align;
    using Fit = TableColumn::Fit;
    std::vector<TableColumn> columns{{Align::left, "", Fit::middle}, {Align::left, ""}};
    if (row.retained) columns.push_back({Align::right, ""});
    columns.push_back({Align::left, "", Fit::middle});
    columns.push_back({Align::left, "", Fit::end});
    Table table(std::move(columns));
    for (const LocalRow& local : row.locals) {
        std::vector<std::string> cells{escape_for_terminal(local.name),
                                       hexadecimal(local.object.address.value)};
        if (row.retained) cells.push_back(local.object.retained ? page.bytes(*local.object.retained) : "");
        cells.push_back(local.object.type.empty() ? "no object was found there"
                                                  : type_text(local.object.type));
        cells.push_back(value_text(local.object, page.redact()));
        table.add(std::move(cells));
    }
    std::string text = table.empty() ? "" : table.text(page.width, false, 6);
    if (const std::uint64_t more = row.local_count - row.locals.size(); more > 0)
        text += fmt::format("      … {} more: add{}\n", grouped(more), all_rows);
    if (row.variables_of_module)
        text +=
            "      " +
            faint("its variables are the module's: " + hexadecimal(row.frame.variables.value), page.colour) +
            "\n";
    return text;
}

bool is_same_place(const FrameRow& a, const FrameRow& b) {
    return a.frame.code == b.frame.code && a.frame.line == b.frame.line;
}

std::string frames_text(const std::vector<FrameRow>& frames, const Page& page) {
    std::string text;
    std::size_t run = 0;  // calls before this one, of the same function at the same line
    for (auto row = frames.rbegin(); row != frames.rend(); ++row) {
        run = row != frames.rbegin() && is_same_place(*row, *(row - 1)) ? run + 1 : 0;
        const bool goes_on = row + 1 != frames.rend() && is_same_place(*row, *(row + 1));
        if (run < shown_of_a_run - 1 || !goes_on) {
            if (run > shown_of_a_run - 1)
                text += fmt::format("  … {} at the same line …\n",
                                    counted(run - shown_of_a_run + 1, "more call", "more calls"));
            text += "  " + bold(function_text(row->frame), page.colour) + ", " + place_text(row->frame);
            if (row->retained.value_or(0) > 0) text += ", retains " + page.about(page.bytes(*row->retained));
            text += "\n";
            text += locals_text(*row, page);
        }
    }
    return text;
}

std::string threads_text(const ThreadsResult& result, const Page& page) {
    if (result.threads.empty()) return "No thread of Python was found in this core.\n";
    const bool gil = std::any_of(result.threads.begin(), result.threads.end(),
                                 [](const ThreadRow& row) { return row.thread.gil; });
    std::string summary =
        counted(result.threads.size(), "thread") + " of Python; the most recent call is the last";
    if (!gil) summary += "; none had the GIL (the interpreter's lock): all waited or were in C code";
    std::string text = wrapped(summary, page.width, 2) + "\n";
    if (result.threads.front().retained)
        text +=
            wrapped("bytes are what a thread, a call or a variable retains: what would come free without it",
                    page.width, 2) +
            "\n";
    for (const ThreadRow& row : result.threads) {
        text += "\n" + heading(row, page);
        text += row.frames.empty() ? "  It runs no Python function.\n" : frames_text(row.frames, page);
    }
    text += "\n";
    if (!result.native_threads.empty())
        text += wrapped(fmt::format("{} more, of which Python knows nothing: tid {}",
                                    counted(result.native_threads.size(), "thread"),
                                    fmt::join(result.native_threads, ", ")),
                        page.width, 2) +
                "\n";
    if (result.largest)
        text += next_line(
            page, "show " + hexadecimal(result.largest->local.object.address.value),
            fmt::format("the largest of them: {} of {}", escape_for_terminal(result.largest->local.name),
                        escape_for_terminal(result.largest->function)));
    return text;
}

}  // namespace

Answer render_threads(const ThreadsResult& result, Redactor& redactor) {
    Answer answer;
    answer.command = "threads";
    answer.rows_key = "threads";
    answer.rows = [&result, &redactor](const RowVisitor& visit) {
        for (const ThreadRow& row : result.threads) visit(thread_json(row, redactor));
    };
    answer.data["native_threads"] = result.native_threads;
    answer.data["total"] = result.threads.size();
    answer.text = [&result](const Page& page) { return threads_text(result, page); };
    return answer;
}

}  // namespace heapsift
