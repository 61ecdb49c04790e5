// What an export says about itself, inside the file and afterwards. A column that is NULL throughout reads as
// "there is nothing"; `not_computed` names the columns that are NULL because they were not computed.

#include "cli/render/export.h"

#include "parsers/base/text.h"

namespace heapsift {
namespace {

constexpr const char* example_query =
    "SELECT name, count(*), sum(memory) FROM object JOIN type ON type_id = id GROUP BY id ORDER BY 3 DESC "
    "LIMIT 20";

/// How to use the file in another program.
Text next_words(const ExportSummary& summary) {
    const Text file = Text(FilePath{summary.path}).quoted();
    switch (summary.format) {
        case ExportFormat::db:
            return says("next: sqlite3 {} {}", file, shell_quoted(example_query));
        case ExportFormat::dot:
            return says("next: dot -Tsvg {} > heap.svg", file);
        case ExportFormat::folded:
            return says("next: flamegraph.pl --countname bytes {} > heap.svg", file);
        case ExportFormat::heapsnapshot:
            return "next: Chrome DevTools, Memory, Load profile";
        case ExportFormat::svg:
            return "next: open it in a browser";
        case ExportFormat::jsonl:
            break;
    }
    return {};
}

}  // namespace

Json export_meta(const Json& envelope, std::size_t types, std::size_t objects, bool redacted) {
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
    meta["types"] = types;
    meta["objects"] = objects;
    meta["redacted"] = redacted;
    meta["not_computed"] = Json::array();
    meta["frozen_generation"] = 3;
    return meta;
}

Document render_export(const ExportSummary& summary) {
    Document document{.command = "export"};
    document.data["path"] = FilePath{summary.path};
    document.data["format"] = export_format_names[static_cast<std::size_t>(summary.format)];
    document.data["bytes"] = summary.bytes;
    Datum rows = Datum::object();
    std::vector<Text> counts;
    for (const auto& [what, count] : summary.rows) {
        rows[what] = count;
        if (count > 0) counts.push_back(how_many(count, what));
    }
    document.data["rows"] = std::move(rows);
    document.say(line(says("{}: {}{}; {}", FilePath{summary.path}, at_least(),
                           joined(std::move(counts), ", "), ByteCount{summary.bytes})));
    if (const Text next = next_words(summary); !next.empty()) document.say(line(next));
    return document;
}

}  // namespace heapsift
