// What an export says about itself, inside it and afterwards. A column that is NULL throughout would read as
// "nothing there"; `not_computed` says which are NULL because nobody looked.

#include "cli/render/export.h"

#include "cli/units.h"
#include "parsers/base/text.h"

#include <fmt/format.h>

namespace heapsift {
namespace {

constexpr const char* example_query =
    "SELECT name, count(*), sum(memory) FROM object JOIN type ON type_id = id GROUP BY id ORDER BY 3 DESC "
    "LIMIT 20";

std::string export_text(const ExportSummary& summary, const Page& page) {
    const std::string name = page.redact().path(summary.path);
    std::string counts;
    for (const auto& [what, count] : summary.rows)
        if (count > 0) counts += (counts.empty() ? "" : ", ") + counted(count, what);
    std::string text = escape_for_terminal(name) + ": " + page.at_least(counts);
    text += fmt::format("; {}\n", page.bytes(summary.bytes));
    if (summary.format == "db")
        text += fmt::format("next: sqlite3 {} {}\n", shell_quoted(name), shell_quoted(example_query));
    if (summary.format == "dot") text += fmt::format("next: dot -Tsvg {} > heap.svg\n", shell_quoted(name));
    if (summary.format == "folded")
        text += fmt::format("next: flamegraph.pl --countname bytes {} > heap.svg\n", shell_quoted(name));
    if (summary.format == "heapsnapshot") text += "next: Chrome DevTools, Memory, Load profile\n";
    return text;
}

}  // namespace

Json export_meta(const Json& envelope, const ExportReader& rows, bool redacted) {
    Json meta;
    for (const char* key : {"schema", "heapsift", "complete", "certain", "warnings"})
        meta[key] = envelope[key];
    const Json& core = envelope["core"];
    for (const auto& [key, value] : core.items())
        if (key != "python" && key != "path" && key != "chosen_by") meta[key] = value;
    meta["core"] = core.value("path", Json());
    const Json python = core.value("python", Json());
    if (python.is_object())
        for (const auto& [key, value] : python.items()) meta[key == "version" ? "python" : key] = value;
    meta["types"] = rows.type_count();
    meta["objects"] = rows.object_count();
    meta["redacted"] = redacted;
    meta["not_computed"] = Json::array();
    meta["frozen_generation"] = 3;
    return meta;
}

Answer render_export(const ExportSummary& summary, Redactor& redactor) {
    Answer answer;
    answer.command = "export";
    answer.data["path"] = redactor.path(summary.path);
    answer.data["format"] = summary.format;
    answer.data["bytes"] = summary.bytes;
    Json rows = Json::object();
    for (const auto& [what, count] : summary.rows) rows[what] = count;
    answer.data["rows"] = rows;
    answer.text = [summary](const Page& page) { return export_text(summary, page); };
    return answer;
}

}  // namespace heapsift
