// A child that ran to its end wrote a document, and its line is that document rearranged. Every other end is
// reported as an error like any other, so that readers of the lines need to know one form only.

#include "cli/render/batch.h"

#include "cli/json_envelope.h"
#include "cli/render/process.h"
#include "parsers/base/text.h"
#include "parsers/elf/core_key.h"

#include <fmt/format.h>

#include <cmath>
#include <csignal>

namespace heapsift {
namespace {

constexpr const char* please_report = "this is a mistake in heapsift; please report it";

std::string last_line(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    text = text.substr(text.rfind('\n') + 1);
    constexpr std::string_view name = "heapsift: ";
    return text.starts_with(name) ? text.substr(name.size()) : text;
}

Error error_of(const std::string& path, const ChildEnd& end) {
    const std::string name = escape_for_terminal(path);
    if (end.not_started != 0)
        return cannot_analyse(
            "not-started",
            fmt::format("{}: no process could be started for it: {}", name, system_reason(end.not_started)),
            "fewer at a time (-j), or a higher limit on processes (ulimit -u)");
    if (end.timed_out)
        return cannot_analyse("timed-out", fmt::format("{}: not done in the time it was given", name),
                              "--timeout gives it more");
    if (end.signal == SIGKILL)
        return cannot_analyse(
            "killed", fmt::format("{}: heapsift was killed over it, most likely for lack of memory", name),
            "fewer at a time (-j 1), or a machine with more memory");
    if (end.signal != 0)
        return cannot_analyse("crashed",
                              fmt::format("{}: heapsift crashed over it ({})", name, signal_name(end.signal)),
                              please_report);
    const std::string said = last_line(end.errors);
    if (!said.empty()) return cannot_analyse("no-answer", said);
    return cannot_analyse("no-answer",
                          fmt::format("{}: heapsift ended with {} and said nothing", name, end.exit),
                          please_report);
}

/// `most_memory`: of --max-memory; 0: the machine's.
void add_error(Json& line, Json error, std::uint64_t most_memory) {
    const std::string code = error.value("code", std::string());
    if (most_memory > 0 && (code == "out-of-memory" || code == "too-little-memory"))
        error["hint"] = "a larger --max-memory, or an --index-dir with room on a disk";
    line["error"] = std::move(error);
    line["signature"] = "not analysed: " + code;
}

double in_milliseconds(double seconds) {
    constexpr double thousand = 1000;
    return std::round(seconds * thousand) / thousand;
}

Json member(const Json& of, const char* key) { return of.is_object() ? of.value(key, Json()) : Json(); }

/// What a fleet counts by: who it was.
void add_process(Json& line, const BatchCore& core, const Json& envelope, const Json& data,
                 const Redactor& redactor) {
    const Json process = member(data, "process"), program = member(data, "program"),
               python = member(envelope, "python");
    const auto given = [&](const std::string& text) {
        return redactor.active() || text.empty() ? Json() : Json(text);
    };
    const Json host = member(program, "host"), container = member(program, "container");
    line["host"] = core.stored.host.empty() ? host : given(core.stored.host);
    line["boot"] = core.stored.boot.empty() ? Json() : Json(core.stored.boot);
    line["container"] = container.is_null() && !core.stored.container.empty() ? Json("container") : container;
    line["pid"] = member(envelope, "pid");
    line["started"] = member(program, "started");
    line["stored"] = core.stored.stored ? Json(utc_text(*core.stored.stored)) : Json();
    line["command"] = member(envelope, "command");
    line["interpreter"] = python.is_object()
                              ? Json("CPython " + python.value("version", std::string()) +
                                     (python.value("free_threaded", false) ? ", free-threaded" : "") +
                                     (python.value("debug", false) ? ", debug" : ""))
                              : Json();
    line["packages"] = member(program, "packages");
    line["ended"] = member(process, "ended");
    line["signal"] = member(process, "signal_name");
    line["threads"] = member(process, "threads");
}

/// And what it had.
void add_totals(Json& line, const Json& data) {
    const Json memory = member(data, "memory"), total = member(member(data, "types"), "total");
    line["mapped"] = member(memory, "mapped");
    line["in_use"] = member(memory, "in_use");
    line["objects"] = member(total, "count");
    line["object_memory"] = member(total, "memory");
    line["array_data"] = member(total, "array_data");
    line["garbage"] = member(data, "garbage");
    line["headline"] = member(data, "headline");
    Json suspects = data.is_object() ? Json::array() : Json();
    for (const Json& suspect : member(data, "suspects")) {
        Json one;
        for (const char* key : {"kind", "pattern", "expression", "bytes", "share", "cause", "fix"})
            one[key] = member(suspect, key);
        suspects.push_back(std::move(one));
    }
    line["suspects"] = std::move(suspects);
}

/// What only the answer knows of a compressed core.
bool was_cut(const Json& document) {
    for (const Json& warning : document.value("warnings", Json::array())) {
        const Json code = member(warning, "code");
        if (code == "core-cut" || code == "stream-cut") return true;
    }
    return false;
}

}  // namespace

Json batch_line(const BatchCore& core, const ChildEnd& end, const Redactor& redactor, bool brief) {
    Json line;
    line["schema"] = batch_schema;
    line["path"] = path_in_line(redactor.path(core.path));
    line["identity"] = core.key.empty() ? Json() : Json(core.key);
    Json document = end.signal == 0 ? Json::parse(end.output, nullptr, false) : Json();
    if (!document.is_object()) {
        document = Json::object();
        document["error"] = error_json(error_of(core.path, end), redactor);
        line["exit"] = static_cast<int>(ExitCode::cannot_analyse);
    } else {
        line["exit"] = end.exit;
    }
    if (!core.key.empty() && was_cut(document)) line["identity"] = cut_core_key(core.key, core.file_bytes);
    const Json data = member(document, "data");
    Json envelope = member(document, "core");
    if (data.is_null())
        add_error(line, document.value("error", Json::object()), core.limits.memory);
    else
        line["signature"] = member(data, "signature");
    add_process(line, core, envelope, data, redactor);
    add_totals(line, data);
    for (const char* key : {"complete", "certain"})
        line[key] = data.is_null() ? Json() : member(document, key);
    line["warnings"] = document.value("warnings", Json::array());
    const auto limit = [](std::uint64_t of) { return of == 0 ? Json() : Json(of); };
    line["limits"] = {{"timeout", limit(core.limits.seconds)}, {"max_memory", limit(core.limits.memory)}};
    line["seconds"] = in_milliseconds(end.seconds);
    if (brief) return line;
    if (!data.is_null()) line["overview"] = data;
    if (envelope.is_object())
        for (const char* key : {"path", "chosen_by"}) envelope.erase(key);  // the line already has the path
    line["core"] = envelope.empty() ? Json(nullptr) : envelope;
    return line;
}

}  // namespace heapsift
