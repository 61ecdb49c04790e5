// A child that ran to its end wrote a document, and its line is that document rearranged. Every other end is
// reported as an error like any other, so that readers of the lines need to know one form only.

#include "cli/render/batch.h"

#include "cli/json_envelope.h"
#include "cli/render/process.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

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

void add_error(Json& line, const Json& error) {
    line["error"] = error;
    line["signature"] = "not analysed: " + error.value("code", std::string());
}

}  // namespace

Json batch_line(const std::string& path, const ChildEnd& end, const Redactor& redactor) {
    Json line;
    line["path"] = redactor.path(path);
    const Json document = end.signal == 0 ? Json::parse(end.output, nullptr, false) : Json();
    if (!document.is_object()) {
        line["exit"] = static_cast<int>(ExitCode::cannot_analyse);
        add_error(line, error_json(error_of(path, end), redactor));
        return line;
    }
    line["exit"] = end.exit;
    const Json data = document.value("data", Json());
    if (data.is_null()) {
        add_error(line, document.value("error", Json::object()));
    } else {
        line["overview"] = data;
        line["signature"] = data.value("signature", Json());
        for (const char* key : {"complete", "certain"}) line[key] = document.value(key, Json());
    }
    line["warnings"] = document.value("warnings", Json::array());
    Json core = document.value("core", Json());
    if (core.is_object())
        for (const char* key : {"path", "chosen_by"}) core.erase(key);  // the line already has the path
    line["core"] = core.empty() ? Json(nullptr) : core;
    return line;
}

}  // namespace heapsift
