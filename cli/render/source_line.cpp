#include "cli/render/source_line.h"

#include <string>

namespace heapsift {

Text line_words(const SourceLine& line) {
    if (line.line == 0) return FilePath{line.file};
    return says("{}:{}", FilePath{line.file}, std::to_string(line.line));
}

Text allocated_words(const std::vector<SourceLine>& calls) {
    if (calls.empty()) return {};
    std::vector<Text> callers;
    for (auto call = calls.rbegin() + 1; call != calls.rend(); ++call) callers.push_back(line_words(*call));
    Text text = line_words(calls.back());
    return callers.empty() ? text
                           : std::move(text) + says(", called from {}", joined(std::move(callers), ", "));
}

Datum calls_data(const std::vector<SourceLine>& calls) {
    return Datum::list_of(calls, [](const SourceLine& call) {
        return entries({{"file", FilePath{call.file}}, {"line", call.line > 0 ? Datum(call.line) : Datum()}});
    });
}

void add_line(Fields& fields, const std::optional<SourceLine>& line) {
    if (line)
        fields.path("file", line->file);
    else
        fields.null("file");
    fields.add("line", line && line->line > 0 ? std::optional(line->line) : std::nullopt);
}

Text line_or_blank(const std::optional<SourceLine>& line) { return line ? line_words(*line) : Text(); }

}  // namespace heapsift
