// Memory by source line. With more than one call of each traceback, the callers stand below the line that allocated.

#include "cli/render/lines.h"

#include "cli/render/object.h"
#include "cli/render/source_line.h"
#include "cli/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace heapsift {
namespace {

constexpr std::size_t a_useful_traceback = 5;

Datum line_data(const LineRow& row) {
    const SourceLine& line = row.line();
    return entries({{"file", FilePath{line.file}},
                    {"line", line.line > 0 ? Datum(line.line) : Datum()},
                    {"count", row.count},
                    {"size", row.size},
                    {"average", row.average()},
                    {"domain", row.domain},
                    {"largest", row.largest},
                    {"traceback", calls_data(row.traceback)}});
}

Datum domain_data(const TracedDomain& domain) {
    return entries({{"domain", domain.domain}, {"count", domain.count}, {"size", domain.size}});
}

/// The words of the same question, for a command to be typed.
std::string words_of(const LinesQuery& query) {
    std::string words = "lines";
    if (query.frames > 1) words += " --traceback " + std::to_string(query.frames);
    if (query.domain) words += " --domain " + std::to_string(*query.domain);
    if (query.by_domain) words += " --by-domain";
    if (query.native_only) words += " --native";
    if (query.sort != LineSort::size) words += std::string(" --sort ") + name_of(query.sort);
    return words;
}

TableBlock lines_table(const LinesResult& result, const LinesQuery& query) {
    TableBlock table;
    table.columns = {right(at_least() + "size", query.sort == LineSort::size),
                     right(at_least() + "blocks", query.sort == LineSort::count),
                     right("average", query.sort == LineSort::average)};
    if (query.by_domain) table.columns.push_back(right("domain"));
    table.columns.push_back(
        left(query.frames > 1 ? "line, and its callers" : "line", TextColumn::Fit::middle));
    table.columns.back().sorted = query.sort == LineSort::name;
    std::vector<TableRow> rows;
    for (const LineRow& line : result.lines) {
        TableRow row{.bytes = line.size};
        row.cells = {ByteCount{line.size}, Count{line.count}, ByteCount{line.average()}};
        if (query.by_domain) row.cells.emplace_back(Count{line.domain.value_or(0)});
        row.cells.push_back(line_words(line.line()));
        rows.push_back(std::move(row));
        for (auto caller = line.traceback.rbegin() + 1; caller != line.traceback.rend(); ++caller) {
            TableRow below;
            below.cells.resize(table.columns.size());
            below.cells.back() = says("  from {}", line_words(*caller));
            rows.push_back(std::move(below));
        }
    }
    table.rows = rows_of(std::move(rows));
    if (query.frames == 1)
        table.rest = TableRest{.rows = result.total_lines,
                               .singular = "more line",
                               .bytes = result.total_size,
                               .all = CommandLine{words_of(query) + all_rows}};
    return table;
}

/// With callers, rows of the table are more than rows of the result.
Block rest_of_tracebacks(const LinesResult& result, const LinesQuery& query) {
    const std::size_t shown = result.lines.size();
    return sentence(says("… {}; {} {} of the memory.", how_many(result.total_lines - shown, "more traceback"),
                         shown == 1 ? Text("this one is") : says("these {} are", Count{shown}),
                         Share{result.shown_size, result.total_size}),
                    says("All: {}", CommandLine{words_of(query) + all_rows}));
}

Text total_words(const LinesResult& result, const LinesQuery& query) {
    Text text = at_least() + says("{} in {}, from {}", ByteCount{result.total_size},
                                  how_many(result.total_count, "block"),
                                  how_many(result.total_lines, query.frames > 1 ? "traceback" : "line"));
    if (query.native_only) return text + ": blocks that C code asked of Python's allocators";
    if (query.domain) return text + says(", of domain {}", std::to_string(*query.domain));
    std::vector<Text> others;
    for (const TracedDomain& domain : result.domains)
        if (domain.domain != 0)
            others.push_back(says("domain {} {}", std::to_string(domain.domain), ByteCount{domain.size}));
    if (!others.empty()) text += says("; of it {}", joined(std::move(others), ", "));
    return text;
}

/// For a person who wants to have it next time.
Block how_to_trace() {
    return sentence(
        "To record it next time, start the program with PYTHONTRACEMALLOC=1 in its environment, or with "
        "python "
        "-X tracemalloc. (With 10 in place of 1, or -X tracemalloc=10, ten calls of each traceback are "
        "kept.)");
}

void say_nothing_found(const LinesResult& result, const LinesQuery& query, Document& document) {
    if (!result.tracing) {
        say_not_traced(result.available, document);
        return;
    }
    if (query.native_only) {
        document.say(sentence(
            "tracemalloc recorded no block of C code: what C code asks of malloc itself is not traced."));
        document.say(hint("native", "all blocks of C code"));
        return;
    }
    if (query.domain && result.traced_bytes > 0) {
        document.say(sentence(says("No traced block is of domain {}.", std::to_string(*query.domain))));
        document.say(hint("lines --by-domain"));
        return;
    } else {
        document.say(sentence("tracemalloc was on, but none of its records can be read from this core."));
    }
    document.say(hint("types"));
}

}  // namespace

void note_unread_traces(const TracedMemory& traced, Diagnostics& diagnostics) {
    if (traced.unread > 0)
        diagnostics.add("tracemalloc-unread",
                        counted(traced.unread, "record") +
                            " of tracemalloc cannot be read: sizes by line are lower bounds",
                        Severity::damage);
    else if (traced.tracing && traced.blocks.empty())
        diagnostics.add("tracemalloc-unread", "tracemalloc was on, and its tables cannot be read",
                        Severity::damage);
    else if (traced.counted_bytes && *traced.counted_bytes != traced.bytes)
        diagnostics.add("tracemalloc-sum",
                        fmt::format("the lines add up to {} bytes, and tracemalloc itself counted {}",
                                    grouped(traced.bytes), grouped(*traced.counted_bytes)));
}

void say_not_traced(bool available, Document& document) {
    if (available) {
        document.say(sentence(OfCore{
            .cut = "No records of tracemalloc are in this part of the core: it was off, or they are cut off.",
            .whole = "tracemalloc was off: Python recorded no source line of any block."}));
        document.say(how_to_trace());
    } else {
        document.say(sentence("CPython 2.7 has no tracemalloc: it records no source line of any block."));
    }
    document.say(hint("types"));
}

const char* name_of(LineSort sort) {
    switch (sort) {
        case LineSort::size:
            return "size";
        case LineSort::count:
            return "count";
        case LineSort::average:
            return "average";
        case LineSort::name:
            return "name";
    }
    return "";
}

Document render_lines(LinesResult lines, const LinesQuery& query) {
    const auto result = kept(std::move(lines));
    Document document{.command = "lines"};
    document.rows_key = "lines";
    document.rows = rows_of<Datum>(result, &LinesResult::lines, line_data);
    document.csv_columns = {"file", "line", "count", "size", "average", "domain", "largest"};
    document.data["tracing"] = result->tracing;
    document.data["frames"] = result->most_frames == 0 ? Datum() : Datum(result->most_frames);
    document.data["total"] = entries({{"lines", result->total_lines},
                                      {"count", result->total_count},
                                      {"size", result->total_size},
                                      {"shown_size", result->shown_size}});
    document.data["domains"] = Datum::list_of(result->domains, domain_data);
    document.data["counted_size"] = result->counted_bytes;
    if (result->lines.empty()) {
        say_nothing_found(*result, query, document);
        return document;
    }
    document.say({lines_table(*result, query)});
    if (query.frames > 1 && result->lines.size() < result->total_lines)
        document.say(rest_of_tracebacks(*result, query));
    document.say(sentence(total_words(*result, query)));
    if (result->most_frames > 0 && query.frames > result->most_frames)
        document.say(sentence(says("tracemalloc kept {} of each traceback; PYTHONTRACEMALLOC={} keeps more.",
                                   how_many(result->most_frames, "call"), std::to_string(query.frames))));
    if (query.frames == 1 && result->most_frames > 1)
        document.say(hint(says("lines --traceback {}", std::to_string(std::min<std::size_t>(
                                                           a_useful_traceback, result->most_frames))),
                          "who called these lines"));
    else
        document.say(
            hint(says("show {}", result->lines.front().largest), "the largest block of the first line"));
    return document;
}

}  // namespace heapsift
